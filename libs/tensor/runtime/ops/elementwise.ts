import { invalid, nullable, num, oneOf, optional } from '../fields';
import type { TensorMeta } from '../vocabulary';
import { broadcast, floating, isFloat, promote, requireFloat } from './meta';
import { attrsOf, dtypeField, noAttrs, numberField, type OpRow, type Rows } from './row';

type Unary = 'exp' | 'log' | 'sqrt' | 'rsqrt' | 'sin' | 'cos' | 'erf';
type Binary = 'mul' | 'maximum' | 'minimum';
type Comparison = 'equal' | 'greater' | 'less' | 'logicalAnd';

function joined(inputs: readonly TensorMeta[]): TensorMeta {
  return { shape: broadcast(...inputs.map((input) => input.shape)), dtype: promote(inputs) };
}

function unary<N extends Unary>(name: N): OpRow<Unary> {
  return {
    arity: 1,
    normalise: noAttrs(name),
    infer: ([x]) => [{ shape: x!.shape, dtype: floating(x!.dtype) }],
  };
}

function binary<N extends Binary>(name: N): OpRow<Binary> {
  return { arity: 2, normalise: noAttrs(name), infer: (inputs) => [joined(inputs)] };
}

function comparison<N extends Comparison>(name: N): OpRow<Comparison> {
  return {
    arity: 2,
    differentiable: false,
    normalise: noAttrs(name),
    infer: (inputs) => [{ shape: joined(inputs).shape, dtype: 'bool' }],
  };
}

/** `input + alpha * other`: alpha must be whole where the result is not floating. */
function scaledSum(name: 'add' | 'sub'): OpRow<'add' | 'sub'> {
  return {
    arity: 2,
    normalise: attrsOf({ alpha: numberField(1) }, name),
    infer: (inputs, { alpha }) => {
      const result = joined(inputs);
      if (!isFloat(result.dtype) && !Number.isInteger(alpha)) {
        throw invalid(`For integral input tensors, argument alpha must not be a floating point number, got ${alpha}`);
      }
      if (name === 'sub' && inputs.some((input) => input.dtype === 'bool')) {
        throw invalid('Subtraction with a bool tensor is not supported: use logicalNot, or cast it first');
      }
      return [result];
    },
  };
}

function sameKind(name: 'neg' | 'abs'): OpRow<'neg' | 'abs'> {
  return {
    arity: 1,
    normalise: noAttrs(name),
    infer: ([x]) => {
      if (x!.dtype === 'bool') throw invalid(`${name} of a bool tensor is not supported: cast it first`);
      return [{ shape: x!.shape, dtype: x!.dtype }];
    },
  };
}

export const ACTIVATIONS = [
  'relu',
  'gelu',
  'sigmoid',
  'tanh',
  'leaky_relu',
  'elu',
  'silu',
  'mish',
  'selu',
  'prelu',
  'hardswish',
  'softmax',
] as const;

/** What `slope` is where it is not given: PyTorch's defaults of negative_slope, alpha, and PReLU's initial weight. */
const SLOPES: Readonly<Record<string, number>> = { leaky_relu: 0.01, elu: 1, prelu: 0.25 };
const ACTIVATION = attrsOf({ function: oneOf(ACTIVATIONS), slope: optional(num()) }, 'activation');

const activation: OpRow<'activation'> = {
  arity: [1, 2],
  normalise: (attrs) => {
    const { function: name, slope } = ACTIVATION(attrs);
    return { function: name, slope: slope ?? SLOPES[name] ?? 0 };
  },
  infer: ([x, weight], attrs) => {
    if (weight && attrs.function !== 'prelu') {
      throw invalid(`activation ${attrs.function} takes one input; only prelu takes its weight as a second one`);
    }
    if (attrs.function === 'relu') {
      if (x!.dtype === 'bool') throw invalid('relu of a bool tensor is not supported: cast it first');
    } else requireFloat(x!, attrs.function);
    if (weight) {
      requireFloat(weight, 'the weight of prelu');
      const count = weight.shape.reduce((product, size) => product * size, 1);
      const channels = x!.shape.length > 1 ? x!.shape[1]! : 1;
      if (weight.shape.length > 1 || (count !== 1 && count !== channels)) {
        throw invalid(
          `Mismatch of parameter numbers and input channel size. Found parameter numbers = ${count} and channel size = ${channels}`,
        );
      }
    }
    return [{ shape: x!.shape, dtype: x!.dtype }];
  },
};

const AFFINE = attrsOf({ scale: numberField(1), shift: numberField(0), dtype: optional(dtypeField()) }, 'affine');
const POW = attrsOf({ exponent: nullable(num()) }, 'pow');
const LERP = attrsOf({ weight: nullable(num()) }, 'lerp');
const CLAMP = attrsOf({ min: optional(num()), max: optional(num()) }, 'clamp');

export const ELEMENTWISE: Rows<
  | Unary
  | Binary
  | Comparison
  | 'add'
  | 'sub'
  | 'div'
  | 'neg'
  | 'abs'
  | 'pow'
  | 'logicalNot'
  | 'where'
  | 'lerp'
  | 'affine'
  | 'clamp'
  | 'activation'
  | 'cast'
  | 'clone'
  | 'detach'
> = {
  add: scaledSum('add'),
  sub: scaledSum('sub'),
  mul: binary('mul'),
  maximum: binary('maximum'),
  minimum: binary('minimum'),
  div: {
    arity: 2,
    normalise: noAttrs('div'),
    infer: (inputs) => {
      const { shape, dtype } = joined(inputs);
      return [{ shape, dtype: floating(dtype) }];
    },
  },
  pow: {
    arity: [1, 2],
    normalise: (attrs, inputs) => {
      const { exponent } = POW(attrs);
      if (inputs.length === 1 && exponent === null) {
        throw invalid('pow needs an exponent: the attribute or a second input');
      }
      if (inputs.length === 2 && exponent !== null) {
        throw invalid('pow got its exponent twice: as attribute and as second input');
      }
      return { exponent };
    },
    infer: (inputs, { exponent }) => {
      const { shape, dtype } = joined(inputs);
      if (exponent === null && dtype === 'bool') throw invalid('pow of bool tensors is not supported: cast them first');
      if (exponent === null || isFloat(dtype)) return [{ shape, dtype }];
      if (!Number.isInteger(exponent)) return [{ shape, dtype: 'float32' }];
      if (exponent < 0) throw invalid('Integers to negative integer powers are not allowed: cast to float32 first');
      return [{ shape, dtype: dtype === 'bool' ? 'int64' : dtype }];
    },
  },
  equal: comparison('equal'),
  greater: comparison('greater'),
  less: comparison('less'),
  logicalAnd: comparison('logicalAnd'),
  logicalNot: {
    arity: 1,
    differentiable: false,
    normalise: noAttrs('logicalNot'),
    infer: ([x]) => [{ shape: x!.shape, dtype: 'bool' }],
  },
  where: {
    arity: 3,
    normalise: noAttrs('where'),
    infer: ([condition, a, b]) => {
      if (condition!.dtype !== 'bool') {
        throw invalid(`where expected condition to be a bool tensor, but got a tensor with dtype ${condition!.dtype}`);
      }
      return [{ shape: broadcast(condition!.shape, a!.shape, b!.shape), dtype: promote([a!, b!]) }];
    },
  },
  lerp: {
    arity: [2, 3],
    normalise: (attrs, inputs) => {
      const { weight } = LERP(attrs);
      if (inputs.length === 3 && weight !== null) {
        throw invalid('lerp got its weight twice: as attribute and as third input');
      }
      return { weight: inputs.length === 3 ? null : (weight ?? 0.5) };
    },
    infer: (inputs) => {
      for (const input of inputs) requireFloat(input, 'lerp');
      return [joined(inputs)];
    },
  },
  affine: {
    arity: 1,
    normalise: (attrs, [x]) => {
      const { scale, shift, dtype } = AFFINE(attrs);
      if (dtype) return { scale, shift, dtype };
      const whole = Number.isInteger(scale) && Number.isInteger(shift);
      if (isFloat(x!.dtype)) return { scale, shift, dtype: x!.dtype };
      return { scale, shift, dtype: !whole ? 'float32' : x!.dtype === 'bool' ? 'int64' : x!.dtype };
    },
    infer: ([x], { dtype }) => [{ shape: x!.shape, dtype }],
  },
  neg: sameKind('neg'),
  abs: sameKind('abs'),
  exp: unary('exp'),
  log: unary('log'),
  sqrt: unary('sqrt'),
  rsqrt: unary('rsqrt'),
  sin: unary('sin'),
  cos: unary('cos'),
  erf: unary('erf'),
  clamp: {
    arity: 1,
    normalise: (attrs) => {
      const { min, max } = CLAMP(attrs);
      if (min === undefined && max === undefined) throw invalid("At least one of 'min' or 'max' must not be None");
      return { ...(min !== undefined ? { min } : {}), ...(max !== undefined ? { max } : {}) };
    },
    infer: ([x], { min, max }) => {
      if (x!.dtype === 'bool') throw invalid('clamp of a bool tensor is not supported: cast it first');
      const whole = [min, max].every(
        (bound) => bound === undefined || Number.isInteger(bound) || !Number.isFinite(bound),
      );
      return [{ shape: x!.shape, dtype: whole ? x!.dtype : floating(x!.dtype) }];
    },
  },
  activation,
  cast: {
    arity: 1,
    normalise: attrsOf({ dtype: dtypeField() }, 'cast'),
    infer: ([x], { dtype }) => [{ shape: x!.shape, dtype }],
  },
  clone: { arity: 1, normalise: noAttrs('clone'), infer: ([x]) => [{ shape: x!.shape, dtype: x!.dtype }] },
  detach: {
    arity: 1,
    differentiable: false,
    normalise: noAttrs('detach'),
    infer: ([x]) => [{ shape: x!.shape, dtype: x!.dtype }],
  },
};
