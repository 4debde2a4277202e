import type { Graph } from './graph/graph';
import type { Value } from './graph/value';

const SCALAR = { shape: [], dtype: 'float32' } as const;

/** PyTorch's guard against a norm of zero. */
const CLIP_EPS = 1e-6;

/** L2 norm of all values taken together. */
export function globalNorm(graph: Graph, values: readonly Value[]): Value {
  return graph.op1('Sqrt', [sumOfSquares(graph, values)], SCALAR);
}

/**
 * `torch.nn.utils.clip_grad_norm_`: every gradient times min(1, max / (norm + 1e-6)).
 * @returns the gradients and their norm afterwards
 */
export function clipped(
  graph: Graph,
  gradients: readonly Value[],
  norm: Value,
  max: number,
): { readonly gradients: Value[]; readonly norm: Value } {
  const guarded = graph.op1('Add', [norm, graph.scalar(CLIP_EPS)], SCALAR);
  const ratio = graph.op1('Div', [graph.scalar(max), guarded], SCALAR);
  const factor = graph.op1('Min', [ratio, graph.scalar(1)], SCALAR);
  return {
    gradients: gradients.map((gradient) => graph.op1('Mul', [gradient, factor], gradient)),
    norm: graph.op1('Mul', [norm, factor], SCALAR),
  };
}

/** Norm of the change over the norm before it, all parameters taken together. */
export function updateRatio(graph: Graph, before: readonly Value[], after: readonly Value[]): Value {
  const changes = before.map((value, at) => graph.op1('Sub', [after[at]!, value], value));
  return graph.op1('Div', [globalNorm(graph, changes), globalNorm(graph, before)], SCALAR);
}

function sumOfSquares(graph: Graph, values: readonly Value[]): Value {
  const squares = values.map((value) => graph.op1('ReduceSumSquare', [value], SCALAR, { attributes: { keepdims: 0 } }));
  return squares.length === 1 ? squares[0]! : graph.op1('Sum', squares, SCALAR);
}
