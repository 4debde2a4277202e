import type { AttentionParams } from '../../runtime';
import type { EmitContext } from '../compiler';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { linear, matmul } from './matmul';
import { dropout } from './random';
import { mean, softmax } from './reduce';
import { reshape, split, transpose } from './shape';

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
  const scores = matmul(g, query, key, { transB: true, alpha: 1 / Math.sqrt(size) });
  const shares = dropout(g, softmax(g, scores, 3), params.dropout, context);
  const mixed = matmul(g, shares, value);
  const rows = transpose(g, mixed, batchFirst ? [0, 2, 1, 3] : [2, 0, 1, 3]);
  const joined = reshape(g, rows, inputs[0].shape);
  return [linear(g, joined, weights.outProjection, weights.outBias), mean(g, shares, [1])];
}
