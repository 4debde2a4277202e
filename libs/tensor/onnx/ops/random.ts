import type { EmitContext } from '../compiler';
import { elements } from '../../runtime/ops/meta';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { cast, less, logicalNot, mul } from './elementwise';
import { filled, reshape } from './shape';

/** In training each element is zero with probability `p`, and the others grow by 1 / (1 - p); in evaluation nothing changes. */
export function dropout(g: Graph, x: Value, p: number, context: EmitContext): Value {
  if (context.mode === 'eval' || p === 0) return x;
  if (p === 1) return mul(g, x, filled(g, [], 0, x.dtype));
  const draws = reshape(g, context.uniform(elements(x.shape)), x.shape);
  const kept = cast(g, logicalNot(g, less(g, draws, p)), x.dtype);
  return mul(g, x, mul(g, kept, 1 / (1 - p)));
}
