import { elements } from '../../runtime/ops/meta';
import { differentiable } from '../grad/differentiable';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { add, div, mul, neg, rsqrt, sub } from './elementwise';
import { mean, sum } from './reduce';
import { filled, reshape } from './shape';

/** Normalises over the last axes, as many as `shape` has; scale and shift of that shape, if any. */
export function layerNorm(
  g: Graph,
  x: Value,
  shape: readonly number[],
  weight: Value | null,
  bias: Value | null,
  eps: number,
): Value {
  const lead = x.shape.length - shape.length;
  const axes = shape.map((_, i) => lead + i);
  const leadAxes = x.shape.flatMap((_, axis) => (axis < lead ? [axis] : []));
  const kept = x.shape.map((size, axis) => (axis < lead ? size : 1));
  const statistics = { shape: kept, dtype: x.dtype };
  const scale = weight ?? filled(g, shape, 1, x.dtype);
  const outputs = [{ shape: x.shape, dtype: x.dtype }, statistics, statistics];
  const [y, average, inverse] = g.op('LayerNormalization', bias ? [x, scale, bias] : [x, scale], outputs, {
    attributes: { axis: lead, epsilon: { float: eps } },
  }) as readonly [Value, Value, Value];
  const over = [x, ...(weight ? [weight] : []), ...(bias ? [bias] : [])];
  return differentiable(y, over, (d) => {
    const normal = mul(g, sub(g, x, average), inverse);
    const inputGradient = () => {
      const scaled = weight ? mul(g, d, weight) : d;
      const centre = mean(g, scaled, axes, true);
      const along = mean(g, mul(g, scaled, normal), axes, true);
      return mul(g, sub(g, sub(g, scaled, centre), mul(g, normal, along)), inverse);
    };
    return [
      inputGradient,
      ...(weight ? [() => sum(g, mul(g, d, normal), leadAxes)] : []),
      ...(bias ? [() => sum(g, d, leadAxes)] : []),
    ];
  });
}

export interface BatchNormResult {
  readonly y: Value;
  /** Of the batch, shape [C]; the variance is the biased one. */
  readonly mean: Value;
  readonly variance: Value;
  /** Elements per channel. */
  readonly count: number;
}

/** Normalises each channel (axis 1) by its statistics over the batch. */
export function batchNorm(g: Graph, x: Value, weight: Value | null, bias: Value | null, eps: number): BatchNormResult {
  const channels = x.shape[1]!;
  const column = x.shape.map((_, axis) => (axis === 1 ? channels : 1));
  const axes = x.shape.flatMap((_, axis) => (axis === 1 ? [] : [axis]));
  const count = elements(x.shape) / channels;
  const average = mean(g, x, axes, true);
  const centred = sub(g, x, average);
  const squares = g.op1(
    'ReduceSumSquare',
    [centred, g.ints(axes)],
    { shape: column, dtype: x.dtype },
    {
      attributes: { keepdims: 1 },
    },
  );
  const variance = div(g, squares, count);
  const inverse = rsqrt(g, add(g, variance, eps));
  const scale = weight ? mul(g, reshape(g, weight, column), inverse) : inverse;
  const scaled = mul(g, centred, scale);
  // The node that the gradient hangs on must be one of its own.
  const y = bias ? add(g, scaled, reshape(g, bias, column)) : scaled;
  const over = [x, ...(weight ? [weight] : []), ...(bias ? [bias] : [])];
  differentiable(y, over, (d) => {
    const shift = sum(g, d, axes, true);
    const along = mul(g, sum(g, mul(g, d, centred), axes, true), inverse);
    const inputGradient = () => {
      // dx = scale * (d - mean(d) - normal * mean(d * normal)), gathered into one factor per channel for each of d, centred and 1.
      const slope = neg(g, div(g, mul(g, mul(g, scale, inverse), along), count));
      const offset = neg(g, div(g, mul(g, scale, shift), count));
      return add(g, mul(g, d, scale), add(g, mul(g, centred, slope), offset));
    };
    return [
      inputGradient,
      ...(weight ? [() => reshape(g, along, [channels])] : []),
      ...(bias ? [() => reshape(g, shift, [channels])] : []),
    ];
  });
  return { y, mean: reshape(g, average, [channels]), variance: reshape(g, variance, [channels]), count };
}

/** Normalises each channel by given statistics. */
export function batchNormFixed(
  g: Graph,
  x: Value,
  weight: Value | null,
  bias: Value | null,
  average: Value,
  variance: Value,
  eps: number,
): Value {
  const channels = x.shape[1]!;
  const column = x.shape.map((_, axis) => (axis === 1 ? channels : 1));
  const axes = x.shape.flatMap((_, axis) => (axis === 1 ? [] : [axis]));
  const inputs = [
    x,
    weight ?? filled(g, [channels], 1, x.dtype),
    bias ?? filled(g, [channels], 0, x.dtype),
    average,
    variance,
  ];
  const y = g.op1(
    'BatchNormalization',
    inputs,
    { shape: x.shape, dtype: x.dtype },
    {
      attributes: { epsilon: { float: eps } },
    },
  );
  const over = [x, ...(weight ? [weight] : []), ...(bias ? [bias] : [])];
  return differentiable(y, over, (d) => {
    const inverse = rsqrt(g, add(g, variance, eps));
    const scale = weight ? mul(g, weight, inverse) : inverse;
    const normal = () => mul(g, sub(g, x, reshape(g, average, column)), reshape(g, inverse, column));
    return [
      () => mul(g, d, reshape(g, scale, column)),
      ...(weight ? [() => sum(g, mul(g, d, normal()), axes)] : []),
      ...(bias ? [() => sum(g, d, axes)] : []),
    ];
  });
}
