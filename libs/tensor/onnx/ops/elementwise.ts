import { RuntimeError } from '../../runtime/errors';
import { broadcast } from '../../runtime/ops/meta';
import { ONNX_DTYPES } from '../writer';
import { isFloating } from '../graph/data';
import type { Graph } from '../graph/graph';
import type { GraphDType, Value } from '../graph/value';
import { sameShape, unbroadcast } from './shape';

/** A value, or a number that takes the dtype of the other operand. */
export type Operand = Value | number;

function operands(g: Graph, op: string, a: Operand, b: Operand): readonly [Value, Value] {
  const like = typeof a === 'number' ? b : a;
  if (typeof like === 'number') throw new TypeError(`${op} needs at least one tensor`);
  const left = typeof a === 'number' ? g.scalar(a, like.dtype) : a;
  const right = typeof b === 'number' ? g.scalar(b, like.dtype) : b;
  if (left.dtype !== right.dtype) {
    throw new RuntimeError('invalid_argument', `${op}: dtypes differ, ${left.dtype} and ${right.dtype}: cast one`, {
      op,
    });
  }
  return [left, right];
}

type BinaryGradient = (d: Value, a: Value, b: Value, y: Value) => readonly [(() => Value) | null, (() => Value) | null];

function binary(g: Graph, type: string, a: Operand, b: Operand, gradient: BinaryGradient): Value {
  const [left, right] = operands(g, type, a, b);
  const output = { shape: broadcast(left.shape, right.shape), dtype: left.dtype };
  const result: Value = g.op1(type, [left, right], output, {
    vjp: ([d]) => {
      const [da, db] = gradient(d!, left, right, result);
      return [da && (() => unbroadcast(g, da(), left.shape)), db && (() => unbroadcast(g, db(), right.shape))];
    },
  });
  return result;
}

export function add(g: Graph, a: Operand, b: Operand): Value {
  return binary(g, 'Add', a, b, (d) => [() => d, () => d]);
}
export function sub(g: Graph, a: Operand, b: Operand): Value {
  return binary(g, 'Sub', a, b, (d) => [() => d, () => neg(g, d)]);
}
export function mul(g: Graph, a: Operand, b: Operand): Value {
  return binary(g, 'Mul', a, b, (d, x, y) => [() => mul(g, d, y), () => mul(g, d, x)]);
}
export function div(g: Graph, a: Operand, b: Operand): Value {
  return binary(g, 'Div', a, b, (d, _, y, q) => [() => div(g, d, y), () => neg(g, div(g, mul(g, d, q), y))]);
}

/** Ties give half the gradient to each side, as PyTorch does. */
export function maximum(g: Graph, a: Operand, b: Operand): Value {
  return binary(g, 'Max', a, b, (d, x, y) => [() => share(g, d, x, y), () => share(g, d, y, x)]);
}
export function minimum(g: Graph, a: Operand, b: Operand): Value {
  return binary(g, 'Min', a, b, (d, x, y) => [() => share(g, d, y, x), () => share(g, d, x, y)]);
}

/** `d` where a > b, half of it where they are equal. */
function share(g: Graph, d: Value, a: Value, b: Value): Value {
  const more = cast(g, greater(g, a, b), d.dtype);
  const notLess = cast(g, logicalNot(g, less(g, a, b)), d.dtype);
  return mul(g, d, mul(g, add(g, more, notLess), 0.5));
}

export function pow(g: Graph, base: Value, exponent: Operand): Value {
  return binary(g, 'Pow', base, exponent, (d, x, e, y) => [
    () => where(g, equal(g, e, 0), 0, mul(g, d, mul(g, e, pow(g, x, sub(g, e, 1))))),
    () => {
      // 0 to a power of at least 0 does not change with the power; log(0) must not leak into the product.
      const flat = logicalAnd(g, equal(g, x, 0), logicalNot(g, less(g, e, 0)));
      return mul(g, d, where(g, flat, 0, mul(g, y, log(g, where(g, flat, 1, x)))));
    },
  ]);
}

type UnaryGradient = (d: Value, x: Value, y: Value) => Value;

export function unary(g: Graph, type: string, x: Value, gradient: UnaryGradient): Value {
  const y: Value = g.op1(type, [x], { shape: x.shape, dtype: x.dtype }, { vjp: ([d]) => [() => gradient(d!, x, y)] });
  return y;
}

export const neg = (g: Graph, x: Value): Value => unary(g, 'Neg', x, (d) => neg(g, d));
export const exp = (g: Graph, x: Value): Value => unary(g, 'Exp', x, (d, _, y) => mul(g, d, y));
export const log = (g: Graph, x: Value): Value => unary(g, 'Log', x, (d) => div(g, d, x));
export const sqrt = (g: Graph, x: Value): Value => unary(g, 'Sqrt', x, (d, _, y) => div(g, d, mul(g, y, 2)));
export const sin = (g: Graph, x: Value): Value => unary(g, 'Sin', x, (d) => mul(g, d, cos(g, x)));
export const cos = (g: Graph, x: Value): Value => unary(g, 'Cos', x, (d) => neg(g, mul(g, d, sin(g, x))));
export const abs = (g: Graph, x: Value): Value => unary(g, 'Abs', x, (d) => mul(g, d, sign(g, x)));
export const tanh = (g: Graph, x: Value): Value => unary(g, 'Tanh', x, (d, _, y) => mul(g, d, sub(g, 1, mul(g, y, y))));
export const sigmoid = (g: Graph, x: Value): Value =>
  unary(g, 'Sigmoid', x, (d, _, y) => mul(g, d, mul(g, y, sub(g, 1, y))));
export const reciprocal = (g: Graph, x: Value): Value => div(g, 1, x);

export function rsqrt(g: Graph, x: Value): Value {
  return reciprocal(g, sqrt(g, x));
}

/** @throws RuntimeError `unsupported` for other dtypes than float32, which no kernel serves */
export function erf(g: Graph, x: Value): Value {
  if (x.dtype !== 'float32') {
    throw new RuntimeError(
      'unsupported',
      `erf computes in float32 only on this runtime, got ${x.dtype}: cast it first`,
      { op: 'erf' },
    );
  }
  return unary(g, 'Erf', x, (d) => mul(g, d, mul(g, exp(g, neg(g, mul(g, x, x))), 2 / Math.sqrt(Math.PI))));
}

/** log(1 + exp(x)), without overflow. */
export function softplus(g: Graph, x: Value): Value {
  if (x.dtype !== 'float32') return add(g, maximum(g, x, 0), log(g, add(g, exp(g, neg(g, abs(g, x))), 1)));
  return unary(g, 'Softplus', x, (d) => mul(g, d, sigmoid(g, x)));
}

/** -1, 0, 1; no gradient. */
export function sign(g: Graph, x: Value): Value {
  return g.op1('Sign', [x], { shape: x.shape, dtype: x.dtype });
}

export function relu(g: Graph, x: Value): Value {
  return unary(g, 'Relu', x, (d, _, y) => mul(g, d, mask(g, greater(g, y, 0), d.dtype)));
}

/** Limits; gradients pass where the value is within them, the limits included. */
export function clamp(g: Graph, x: Value, min?: number, max?: number): Value {
  const limit = (value: number | undefined) => (value === undefined ? null : g.scalar(value, x.dtype));
  return g.op1(
    'Clip',
    [x, limit(min), limit(max)],
    { shape: x.shape, dtype: x.dtype },
    {
      vjp: ([d]) => {
        let result = d!;
        if (min !== undefined) result = mul(g, result, mask(g, logicalNot(g, less(g, x, min)), x.dtype));
        if (max !== undefined) result = mul(g, result, mask(g, logicalNot(g, greater(g, x, max)), x.dtype));
        return [result];
      },
    },
  );
}

function comparison(g: Graph, type: string, a: Operand, b: Operand): Value {
  const [left, right] = operands(g, type, a, b);
  return g.op1(type, [left, right], { shape: broadcast(left.shape, right.shape), dtype: 'bool' });
}

export const greater = (g: Graph, a: Operand, b: Operand): Value => comparison(g, 'Greater', a, b);
export const less = (g: Graph, a: Operand, b: Operand): Value => comparison(g, 'Less', a, b);
export const equal = (g: Graph, a: Operand, b: Operand): Value => comparison(g, 'Equal', a, b);
export const logicalAnd = (g: Graph, a: Value, b: Value): Value => comparison(g, 'And', a, b);
export const logicalOr = (g: Graph, a: Value, b: Value): Value => comparison(g, 'Or', a, b);
export const logicalNot = (g: Graph, x: Value): Value => g.op1('Not', [x], { shape: x.shape, dtype: 'bool' });

/** `a` where the condition holds, else `b`. */
export function where(g: Graph, condition: Value, a: Operand, b: Operand): Value {
  const [left, right] = operands(g, 'Where', a, b);
  if (left.dtype === 'bool') {
    return logicalOr(g, logicalAnd(g, condition, left), logicalAnd(g, logicalNot(g, condition), right));
  }
  const shape = broadcast(condition.shape, left.shape, right.shape);
  return g.op1(
    'Where',
    [condition, left, right],
    { shape, dtype: left.dtype },
    {
      vjp: ([d]) => [
        null,
        () => unbroadcast(g, where(g, condition, d!, 0), left.shape),
        () => unbroadcast(g, where(g, condition, 0, d!), right.shape),
      ],
    },
  );
}

export function cast(g: Graph, x: Value, dtype: GraphDType): Value {
  if (x.dtype === dtype) return x;
  return g.op1(
    'Cast',
    [x],
    { shape: x.shape, dtype },
    {
      attributes: { to: ONNX_DTYPES[dtype] },
      ...(isFloating(dtype) && isFloating(x.dtype) ? { vjp: ([d]) => [cast(g, d!, x.dtype)] } : {}),
    },
  );
}

/** A condition as 0 and 1. */
export function mask(g: Graph, condition: Value, dtype: GraphDType): Value {
  return cast(g, condition, dtype);
}

/** The same values under another name. */
export function clone(g: Graph, x: Value): Value {
  return unary(g, 'Identity', x, (d) => d);
}

/** `x`, under another name if it is one of `inputs`: each tensor a caller can name has a gradient of its own. */
export function fresh(g: Graph, x: Value, inputs: readonly Value[]): Value {
  return inputs.includes(x) ? clone(g, x) : x;
}

/** Stops gradients. */
export function detach(g: Graph, x: Value): Value {
  return g.op1('Identity', [x], { shape: x.shape, dtype: x.dtype });
}

/** Adds several values of one shape. */
export function addAll(g: Graph, values: readonly Value[]): Value {
  const [first, ...rest] = values;
  if (rest.length < 2 || rest.some((value) => !sameShape(value.shape, first!.shape) || !isFloating(value.dtype))) {
    return rest.reduce((sum, value) => add(g, sum, value), first!);
  }
  return g.op1('Sum', values, { shape: first!.shape, dtype: first!.dtype }, { vjp: ([d]) => values.map(() => d!) });
}
