import type { Graph } from '../graph/graph';
import { elements } from '../../runtime/ops/meta';
import type { Value } from '../graph/value';
import { abs, cast, div, equal, mul, sub, where } from './elementwise';
import { expand, reshape, reverse } from './shape';

/** `kept`: the shape with ones in place of the reduced axes, to which gradients and results are reshaped for broadcasting. */
type ReduceGradient = (d: Value, kept: readonly number[], y: Value) => Value;

function reduce(
  g: Graph,
  type: string,
  x: Value,
  axes: readonly number[],
  keep: boolean,
  gradient: ReduceGradient,
): Value {
  const kept = x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
  const shape = keep ? kept : x.shape.filter((_, axis) => !axes.includes(axis));
  if (axes.length === 0) return x;
  const y: Value = g.op1(
    type,
    [x, g.ints(axes)],
    { shape, dtype: x.dtype },
    {
      attributes: { keepdims: keep ? 1 : 0 },
      vjp: ([d]) => [() => gradient(reshape(g, d!, kept), kept, y)],
    },
  );
  return y;
}

function countOf(x: Value, axes: readonly number[]): number {
  return elements(axes.map((axis) => x.shape[axis]!));
}

export function sum(g: Graph, x: Value, axes: readonly number[], keep = false): Value {
  return reduce(g, 'ReduceSum', x, axes, keep, (d) => expand(g, d, x.shape));
}

export function mean(g: Graph, x: Value, axes: readonly number[], keep = false): Value {
  return reduce(g, 'ReduceMean', x, axes, keep, (d) => expand(g, div(g, d, countOf(x, axes)), x.shape));
}

/** Largest or smallest; elements that tie share the gradient evenly, as in PyTorch. */
export function extreme(
  g: Graph,
  type: 'ReduceMax' | 'ReduceMin',
  x: Value,
  axes: readonly number[],
  keep = false,
): Value {
  return reduce(g, type, x, axes, keep, (d, kept, y) => {
    const hit = cast(g, equal(g, x, reshape(g, y, kept)), x.dtype);
    return mul(g, hit, div(g, d, sum(g, hit, axes, true)));
  });
}

/** Euclidean norm; its gradient at zero is zero. */
export function norm(g: Graph, x: Value, axes: readonly number[], keep = false): Value {
  if (axes.length === 0) return abs(g, x);
  return reduce(g, 'ReduceL2', x, axes, keep, (d, kept, y) => {
    const length = reshape(g, y, kept);
    const zero = equal(g, length, 0);
    return mul(g, x, where(g, zero, 0, div(g, d, where(g, zero, 1, length))));
  });
}

/** Variance with `correction` (1: unbiased); NaN where it leaves no degree of freedom. */
export function variance(g: Graph, x: Value, axes: readonly number[], correction: number, keep = false): Value {
  const freedom = Math.max(0, countOf(x, axes) - correction);
  const centred = sub(g, x, mean(g, x, axes, true));
  return div(g, sum(g, mul(g, centred, centred), axes, keep), freedom);
}

/** Running sums along one axis. */
export function cumsum(g: Graph, x: Value, axis: number): Value {
  return g.op1(
    'CumSum',
    [x, g.numbers('int64', [], [axis])],
    { shape: x.shape, dtype: x.dtype },
    {
      vjp: ([d]) => [reverse(g, cumsum(g, reverse(g, d!, [axis]), axis), [axis])],
    },
  );
}

/** Softmax along one axis. */
export function softmax(g: Graph, x: Value, axis: number): Value {
  const y: Value = g.op1(
    'Softmax',
    [x],
    { shape: x.shape, dtype: x.dtype },
    {
      attributes: { axis },
      vjp: ([d]) => {
        const dy = mul(g, d!, y);
        return [sub(g, dy, mul(g, y, sum(g, dy, [axis], true)))];
      },
    },
  );
  return y;
}

export function logSoftmax(g: Graph, x: Value, axis: number): Value {
  const y: Value = g.op1(
    'LogSoftmax',
    [x],
    { shape: x.shape, dtype: x.dtype },
    {
      attributes: { axis },
      vjp: ([d]) => {
        const probabilities = g.op1('Exp', [y], { shape: x.shape, dtype: x.dtype });
        return [sub(g, d!, mul(g, probabilities, sum(g, d!, [axis], true)))];
      },
    },
  );
  return y;
}
