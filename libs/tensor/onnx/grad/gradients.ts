import { RuntimeError } from '../../runtime/errors';
import { isFloating } from '../graph/data';
import { opsInOrder } from '../graph/encode';
import type { Graph } from '../graph/graph';
import type { Op, Value } from '../graph/value';

/** What an op passes gradients to. */
function differentiableInputs(op: Op): readonly (Value | null)[] {
  return op.differentiable ?? op.inputs;
}

/**
 * Reverse mode: gradients of the sum of `of` (weighted by `seed`, of the same shape, default ones) with respect to `wanted`;
 * null where `of` does not depend on the item through differentiable ops. Only what lies between is differentiated.
 */
export function gradients(graph: Graph, of: Value, wanted: readonly Value[], seed?: Value): readonly (Value | null)[] {
  if (!isFloating(of.dtype)) {
    throw new RuntimeError('invalid_argument', `gradients need a floating tensor, got ${of.dtype}`);
  }
  const order = opsInOrder([of], differentiableInputs);
  const needed = new Set<Value>(wanted.filter((value) => isFloating(value.dtype)));
  for (const op of order) {
    if (!differentiableInputs(op).some((input) => input && needed.has(input))) continue;
    for (const output of op.outputs) if (isFloating(output.dtype)) needed.add(output);
  }
  const parts = new Map<Value, Value[]>([[of, [seed ?? ones(graph, of)]]]);
  const total = (value: Value): Value | null => {
    const list = parts.get(value);
    if (!list) return null;
    if (list.length > 1) {
      const sum = graph.op1(list.length === 2 ? 'Add' : 'Sum', [...list], { shape: value.shape, dtype: value.dtype });
      list.splice(0, list.length, sum);
    }
    return list[0]!;
  };
  for (const op of order.toReversed()) {
    if (!op.outputs.some((output) => needed.has(output))) continue;
    const incoming = op.outputs.map(total);
    if (incoming.every((gradient) => gradient === null)) continue;
    if (!op.vjp) continue;
    const outgoing = op.vjp(incoming);
    differentiableInputs(op).forEach((input, i) => {
      const gradient = outgoing[i];
      if (!input || !gradient || !needed.has(input)) return;
      const list = parts.get(input) ?? [];
      list.push(typeof gradient === 'function' ? gradient() : gradient);
      parts.set(input, list);
    });
  }
  return wanted.map(total);
}

function ones(graph: Graph, like: Value): Value {
  const one = graph.scalar(1, like.dtype);
  if (like.shape.length === 0) return one;
  return graph.op1('Expand', [one, graph.ints(like.shape)], { shape: like.shape, dtype: like.dtype });
}
