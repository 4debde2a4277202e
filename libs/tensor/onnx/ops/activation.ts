import type { Activation } from '../../runtime';
import { differentiable } from '../grad/differentiable';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import {
  add,
  cast,
  clamp,
  div,
  erf,
  exp,
  greater,
  less,
  logicalAnd,
  logicalNot,
  minimum,
  mul,
  relu,
  sigmoid,
  softplus,
  sub,
  tanh,
  where,
} from './elementwise';
import { softmax } from './reduce';
import { reshape } from './shape';

/** Keeps 0 / 0 out of the gradient: added to x, it changes nothing but 0 itself. */
const TINY = 1e-30;

/** Exact GELU, x * Phi(x). Its gradient, Phi(x) + x * phi(x), takes Phi from the result: Phi = y / x. */
export function gelu(g: Graph, x: Value): Value {
  if (x.dtype !== 'float32') return mul(g, mul(g, x, 0.5), add(g, erf(g, mul(g, x, Math.SQRT1_2)), 1));
  const near = g.op1('Add', [x, g.scalar(TINY)], { shape: x.shape, dtype: x.dtype });
  const y = g.op1('Gelu', [near], { shape: x.shape, dtype: x.dtype }, { domain: 'com.microsoft' });
  return differentiable(y, [x], (d) => {
    const density = exp(g, mul(g, mul(g, x, x), -0.5));
    const rest = mul(g, mul(g, x, 1 / Math.sqrt(2 * Math.PI)), density);
    return [mul(g, d, add(g, div(g, y, near), rest))];
  });
}

/** GELU by PyTorch's approximation with tanh. */
export function geluTanh(g: Graph, x: Value): Value {
  const factor = Math.sqrt(2 / Math.PI);
  const square = mul(g, x, x);
  const t = tanh(g, mul(g, mul(g, x, factor), add(g, mul(g, square, 0.044715), 1)));
  const half = add(g, mul(g, t, 0.5), 0.5);
  return differentiable(mul(g, x, half), [x], (d) => {
    const slope = mul(g, sub(g, 1, mul(g, t, t)), add(g, mul(g, square, 1.5 * 0.044715 * factor), 0.5 * factor));
    return [mul(g, d, add(g, half, mul(g, x, slope)))];
  });
}

export function silu(g: Graph, x: Value): Value {
  const s = sigmoid(g, x);
  const y = mul(g, x, s);
  return differentiable(y, [x], (d) => [mul(g, d, add(g, s, mul(g, y, sub(g, 1, s))))]);
}

function mish(g: Graph, x: Value): Value {
  return mul(g, x, tanh(g, softplus(g, x)));
}

/** x where it is positive, else x times the slope (a number, or a tensor that broadcasts). */
export function leakyRelu(g: Graph, x: Value, slope: Value | number): Value {
  if (typeof slope === 'number' && x.dtype === 'float32') {
    const factor = () => where(g, greater(g, x, 0), g.scalar(1, x.dtype), slope);
    return g.op1(
      'LeakyRelu',
      [x],
      { shape: x.shape, dtype: x.dtype },
      {
        attributes: { alpha: { float: slope } },
        vjp: ([d]) => [() => mul(g, d!, factor())],
      },
    );
  }
  return where(g, greater(g, x, 0), x, mul(g, x, slope));
}

/** PReLU: one slope for all, or one per channel (axis 1). */
export function prelu(g: Graph, x: Value, weight: Value): Value {
  const count = weight.shape[0] ?? 1;
  const shape = count === 1 ? [1] : x.shape.map((_, axis) => (axis === 1 ? count : 1));
  return leakyRelu(g, x, reshape(g, weight, x.shape.length === 0 ? [] : shape));
}

/** scale * (x, or alpha * (exp(x) - 1) below zero). */
export function elu(g: Graph, x: Value, alpha: number, scale = 1): Value {
  const below = mul(g, sub(g, exp(g, minimum(g, x, 0)), 1), alpha);
  const y = where(g, greater(g, x, 0), x, below);
  const result = differentiable(y, [x], (d) => [mul(g, d, where(g, greater(g, x, 0), 1, add(g, below, alpha)))]);
  return scale === 1 ? result : mul(g, result, scale);
}

function hardswish(g: Graph, x: Value): Value {
  const y = div(g, mul(g, x, clamp(g, add(g, x, 3), 0, 6)), 6);
  return differentiable(y, [x], (d) => {
    const inside = cast(g, logicalAnd(g, greater(g, x, -3), less(g, x, 3)), x.dtype);
    const above = cast(g, logicalNot(g, less(g, x, 3)), x.dtype);
    return [mul(g, d, add(g, mul(g, inside, add(g, mul(g, x, 1 / 3), 0.5)), above))];
  });
}

const SELU_ALPHA = 1.6732632423543772;
const SELU_SCALE = 1.0507009873554805;

/** Any activation of the vocabulary; `slope` where it has one. */
export function activate(g: Graph, x: Value, name: Activation, slope: number, weight: Value | null): Value {
  switch (name) {
    case 'relu':
      return relu(g, x);
    case 'gelu':
      return gelu(g, x);
    case 'sigmoid':
      return sigmoid(g, x);
    case 'tanh':
      return tanh(g, x);
    case 'leaky_relu':
      return leakyRelu(g, x, slope);
    case 'elu':
      return elu(g, x, slope);
    case 'silu':
      return silu(g, x);
    case 'mish':
      return mish(g, x);
    case 'selu':
      return elu(g, x, SELU_ALPHA, SELU_SCALE);
    case 'prelu':
      return weight ? prelu(g, x, weight) : leakyRelu(g, x, slope);
    case 'hardswish':
      return hardswish(g, x);
    case 'softmax':
      return softmax(g, x, Math.max(0, x.shape.length - 1));
  }
}
