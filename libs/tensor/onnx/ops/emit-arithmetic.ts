import type { DType, NormalOpTable } from '../../runtime';
import { floating, promote } from '../../runtime/ops/meta';
import { isFloating, meta } from '../graph/data';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { activate } from './activation';
import {
  abs,
  add,
  cast,
  clamp,
  clone,
  cos,
  detach,
  div,
  equal,
  erf,
  exp,
  greater,
  less,
  log,
  logicalAnd,
  logicalNot,
  logicalOr,
  maximum,
  minimum,
  mul,
  neg,
  pow,
  rsqrt,
  sin,
  sqrt,
  sub,
  where,
} from './elementwise';
import type { OpEmitter, OpEmitters } from './emit-row';
import { arithmetic, minus, plus, promoted, times } from './mixed';
import { dropout } from './random';
import { cumsum, extreme, mean, norm, sum, variance } from './reduce';
import { topk } from './indexing';
import { reshape } from './shape';

type Unary = (g: Graph, x: Value) => Value;
type Binary = (g: Graph, a: Value, b: Value) => Value;

/** Functions with real results: integers become float32 first. */
function real(compute: Unary): OpEmitter<'exp' | 'log' | 'sqrt' | 'rsqrt' | 'sin' | 'cos' | 'erf'> {
  return (g, [x]) => compute(g, cast(g, x, floating(meta(x).dtype)));
}

/** Comparison kernels know float, double, int32 and int64. */
function comparing(compute: Binary): OpEmitter<'equal' | 'greater' | 'less'> {
  return (g, [a, b]) => {
    const [left, right] = promoted(g, a, b!).map((x) =>
      x.dtype === 'bool' || x.dtype === 'uint8' ? cast(g, x, 'int32') : x,
    );
    return compute(g, left!, right!);
  };
}

function largest(compute: Binary, ofBools: Binary): OpEmitter<'maximum' | 'minimum'> {
  return (g, [a, b]) => {
    const both = promoted(g, a, b!);
    if (both[0]!.dtype === 'bool') return ofBools(g, both[0]!, both[1]!);
    return arithmetic(g, both, ([x, y]) => compute(g, x!, y!));
  };
}

/** `a + alpha * b` or `a - alpha * b`. */
function scaled(compute: Binary): OpEmitter<'add' | 'sub'> {
  return (g, [a, b], { alpha }) => {
    if (alpha === 1) return compute(g, a, b!);
    const [left, right] = promoted(g, a, b!);
    return compute(
      g,
      left!,
      arithmetic(g, [right!], ([x]) => mul(g, x!, alpha)),
    );
  };
}

function power(g: Graph, inputs: readonly [Value, ...Value[]], exponent: number | null): Value {
  if (exponent === null) {
    return arithmetic(g, promoted(g, ...inputs), ([base, power]) => pow(g, base!, power!));
  }
  const [x] = inputs;
  if (!isFloating(x.dtype)) {
    const dtype = !Number.isInteger(exponent) ? 'float32' : x.dtype === 'bool' ? 'int64' : x.dtype;
    return arithmetic(g, [cast(g, x, dtype)], ([base]) => pow(g, base!, exponent));
  }
  if (exponent === 1) return x;
  if (exponent === 2) return mul(g, x, x);
  if (exponent === 0.5) return sqrt(g, x);
  return pow(g, x, exponent);
}

function clamped(g: Graph, x: Value, { min, max }: NormalOpTable['clamp']): Value {
  const finite = (bound: number | undefined) => (bound !== undefined && Number.isFinite(bound) ? bound : undefined);
  if (isFloating(x.dtype)) return clamp(g, x, min, max);
  const whole = [min, max].every((bound) => bound === undefined || Number.isInteger(bound) || !Number.isFinite(bound));
  const input = cast(g, x, whole && x.dtype !== 'bool' ? x.dtype : 'float32');
  return arithmetic(g, [input], ([value]) => clamp(g, value!, finite(min), finite(max)));
}

function affine(g: Graph, x: Value, { scale, shift, dtype }: NormalOpTable['affine']): Value {
  return arithmetic(g, [cast(g, x, dtype)], ([value]) => {
    const product = scale === 1 ? value! : mul(g, value!, scale);
    return shift === 0 ? product : add(g, product, shift);
  });
}

/** Sums of integers are int64. */
function summable(g: Graph, x: Value): Value {
  return isFloating(x.dtype) ? x : cast(g, x, 'int64');
}

function extremeOf(type: 'ReduceMax' | 'ReduceMin'): OpEmitter<'amax' | 'amin'> {
  return (g, [x], { dim, keepdim }) => arithmetic(g, [x], ([value]) => extreme(g, type, value!, dim, keepdim));
}

function argument(type: 'ArgMax' | 'ArgMin'): OpEmitter<'argmax' | 'argmin'> {
  return (g, [x], { dim, keepdim }) => {
    const list = dim === null || x.shape.length === 0 ? reshape(g, x, [x.shape.reduce((a, b) => a * b, 1)]) : x;
    const axis = list === x ? dim! : 0;
    // No kernel for int64; a double holds every whole number below 2^53.
    const input = list.dtype === 'int64' ? cast(g, list, 'float64') : list;
    const shape = list.shape.filter((_, at) => at !== axis);
    const found = g.op1(type, [input], { shape, dtype: 'int64' }, { attributes: { axis, keepdims: 0 } });
    const hit = (at: number) => dim === null || at === dim;
    return keepdim
      ? reshape(
          g,
          found,
          x.shape.map((size, at) => (hit(at) ? 1 : size)),
        )
      : reshape(g, found, dim === null ? [] : shape);
  };
}

/** Runs an op of one axis on a tensor of no dimensions as on one of one element. */
function withAxis(g: Graph, x: Value, compute: (x: Value) => readonly Value[]): readonly Value[] {
  if (x.shape.length > 0) return compute(x);
  return compute(reshape(g, x, [1])).map((y) => reshape(g, y, []));
}

/** Order statistics exist for numbers of four bytes and more. */
function ordered(g: Graph, x: Value, k: number, dim: number, descending: boolean): readonly Value[] {
  const small = x.dtype === 'bool' || x.dtype === 'uint8';
  return withAxis(g, small ? cast(g, x, 'int32') : x, (wide) => {
    const [values, indices] = topk(g, wide, k, dim, descending);
    return [cast(g, values, x.dtype), indices];
  });
}

type Names =
  | 'add'
  | 'sub'
  | 'mul'
  | 'div'
  | 'pow'
  | 'maximum'
  | 'minimum'
  | 'equal'
  | 'greater'
  | 'less'
  | 'logicalAnd'
  | 'logicalNot'
  | 'where'
  | 'lerp'
  | 'affine'
  | 'neg'
  | 'abs'
  | 'exp'
  | 'log'
  | 'sqrt'
  | 'rsqrt'
  | 'sin'
  | 'cos'
  | 'erf'
  | 'clamp'
  | 'activation'
  | 'cast'
  | 'clone'
  | 'detach'
  | 'dropout'
  | 'sum'
  | 'mean'
  | 'amax'
  | 'amin'
  | 'var'
  | 'norm'
  | 'argmax'
  | 'argmin'
  | 'cumsum'
  | 'topk'
  | 'sort';

/** Arithmetic, comparisons, functions and reductions. */
export const ARITHMETIC: OpEmitters<Names> = {
  add: scaled(plus),
  sub: scaled(minus),
  mul: (g, [a, b]) => times(g, a, b!),
  div: (g, [a, b]) => {
    const dtype: DType = floating(promote([meta(a), meta(b!)]));
    return div(g, cast(g, a, dtype), cast(g, b!, dtype));
  },
  pow: (g, inputs, { exponent }) => power(g, inputs, exponent),
  maximum: largest(maximum, logicalOr),
  minimum: largest(minimum, logicalAnd),
  equal: comparing(equal),
  greater: comparing(greater),
  less: comparing(less),
  logicalAnd: (g, [a, b]) => logicalAnd(g, cast(g, a, 'bool'), cast(g, b!, 'bool')),
  logicalNot: (g, [x]) => logicalNot(g, cast(g, x, 'bool')),
  where: (g, [condition, a, b]) => {
    const [left, right] = promoted(g, a!, b!);
    return where(g, condition, left!, right!);
  },
  lerp: (g, inputs, { weight }) => {
    const [a, b, w] = promoted(g, ...inputs);
    return add(g, a!, mul(g, sub(g, b!, a!), weight ?? w!));
  },
  affine: (g, [x], attrs) => affine(g, x, attrs),
  neg: (g, [x]) => arithmetic(g, [x], ([value]) => neg(g, value!)),
  abs: (g, [x]) => abs(g, x),
  exp: real(exp),
  log: real(log),
  sqrt: real(sqrt),
  rsqrt: real(rsqrt),
  sin: real(sin),
  cos: real(cos),
  erf: real(erf),
  clamp: (g, [x], attrs) => clamped(g, x, attrs),
  activation: (g, [x, weight], { function: name, slope }) =>
    name === 'relu' && !isFloating(x.dtype)
      ? arithmetic(g, [x], ([value]) => maximum(g, value!, 0))
      : activate(g, x, name, slope, weight ?? null),
  cast: (g, [x], { dtype }) => cast(g, x, dtype),
  clone: (g, [x]) => clone(g, x),
  detach: (g, [x]) => detach(g, x),
  dropout: (g, [x], { p }, context) => dropout(g, x, p, context),
  sum: (g, [x], { dim, keepdim }) => sum(g, summable(g, x), dim, keepdim),
  mean: (g, [x], { dim, keepdim }) => mean(g, x, dim, keepdim),
  amax: extremeOf('ReduceMax'),
  amin: extremeOf('ReduceMin'),
  var: (g, [x], { dim, keepdim, correction }) => variance(g, x, dim, correction, keepdim),
  norm: (g, [x], { dim, keepdim }) => norm(g, x, dim, keepdim),
  argmax: argument('ArgMax'),
  argmin: argument('ArgMin'),
  cumsum: (g, [x], { dim }) => withAxis(g, summable(g, x), (value) => [cumsum(g, value, dim)]),
  topk: (g, [x], { k, dim }) => ordered(g, x, k, dim, true),
  sort: (g, [x], { dim, descending }) => ordered(g, x, x.shape[dim] ?? 1, dim, descending),
};
