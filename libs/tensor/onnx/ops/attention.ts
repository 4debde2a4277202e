import type { AttentionParams } from '../../runtime';
import type { EmitContext } from '../compiler';
import { differentiable } from '../grad/differentiable';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { mul, sub } from './elementwise';
import { linear, matmul } from './matmul';
import { dropout } from './random';
import { mean, softmax, sum } from './reduce';
import { reshape, split, swapLast, transpose } from './shape';

export interface AttentionWeights {
  readonly inProjection: Value;
  readonly inBias: Value | null;
  readonly outProjection: Value;
  readonly outBias: Value | null;
}

/**
 * Multi-head attention with PyTorch's packed projections. Returns the result in the query's layout and the attention weights
 * averaged over the heads, `[N, L, S]`.
 */
export function multiHeadAttention(
  g: Graph,
  inputs: readonly [query: Value, key: Value, value: Value],
  weights: AttentionWeights,
  params: AttentionParams,
  context: EmitContext,
): readonly [Value, Value] {
  const { embed_dim: width, num_heads: heads, batch_first: batchFirst } = params;
  const size = width / heads;
  const [batchAxis, lengthAxis] = batchFirst ? [0, 1] : [1, 0];
  // Splitting the weights is cheaper than splitting the projected rows, which would take a transpose of five axes.
  const matrices = split(g, weights.inProjection, 0, [width, width, width]);
  const biases = weights.inBias ? split(g, weights.inBias, 0, [width, width, width]) : [null, null, null];
  const perHead = (x: Value, i: number): Value => {
    const projected = linear(g, x, matrices[i]!, biases[i]!);
    const [first, second] = x.shape as readonly [number, number, number];
    return transpose(g, reshape(g, projected, [first, second, heads, size]), [batchAxis, 2, lengthAxis, 3]);
  };
  const [query, key, value] = inputs.map(perHead) as [Value, Value, Value];
  const { mixed, shares } = attend(g, query, key, value, (x) => dropout(g, x, params.dropout, context));
  const rows = transpose(g, mixed, batchFirst ? [0, 2, 1, 3] : [2, 0, 1, 3]);
  const joined = reshape(g, rows, inputs[0].shape);
  return [linear(g, joined, weights.outProjection, weights.outBias), mean(g, shares, [1])];
}

interface Attended {
  /** `[N, heads, L, size]`. */
  readonly mixed: Value;
  /** `[N, heads, L, S]`, after dropout. */
  readonly shares: Value;
}

/**
 * softmax(Q K^T / sqrt(size)) V of each head, with its gradient by hand. The sum over a row that softmax's gradient needs is taken
 * over the result's row instead (they are equal), which is shorter; products with a transposed large matrix on the left are
 * made the other way round and transposed, because the kernel packs its left operand slowly.
 */
function attend(g: Graph, query: Value, key: Value, value: Value, drop: (shares: Value) => Value): Attended {
  const alpha = 1 / Math.sqrt(query.shape[3]!);
  const full = softmax(g, matmul(g, query, key, { transB: true, alpha }), 3);
  const shares = drop(full);
  const mixed = matmul(g, shares, value);
  differentiable(mixed, [query, key, value], (d) => {
    const byShares = matmul(g, d, value, { transB: true });
    const rows = sum(g, mul(g, d, mixed), [3], true);
    const byScores =
      shares === full ? mul(g, full, sub(g, byShares, rows)) : sub(g, mul(g, shares, byShares), mul(g, full, rows));
    return [
      () => matmul(g, byScores, key, { alpha }),
      () => swapLast(g, matmul(g, query, byScores, { transA: true, alpha })),
      () => swapLast(g, matmul(g, d, shares, { transA: true })),
    ];
  });
  return { mixed, shares };
}
