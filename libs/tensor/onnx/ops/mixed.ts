import { promote } from '../../runtime/ops/meta';
import { meta } from '../graph/data';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { add, cast, logicalAnd, mul, sub } from './elementwise';

/** Operands in the dtype that PyTorch would compute in. */
export function promoted(g: Graph, ...inputs: readonly Value[]): readonly Value[] {
  const dtype = promote(inputs.map(meta));
  return inputs.map((input) => cast(g, input, dtype));
}

/** Arithmetic kernels know no bool and no uint8: those are computed in int32, where a sum wraps as it should when it is cast back. */
export function arithmetic(g: Graph, inputs: readonly Value[], compute: (inputs: readonly Value[]) => Value): Value {
  const dtype = inputs[0]!.dtype;
  if (dtype !== 'bool' && dtype !== 'uint8') return compute(inputs);
  return cast(g, compute(inputs.map((input) => cast(g, input, 'int32'))), dtype);
}

export function plus(g: Graph, a: Value, b: Value): Value {
  return arithmetic(g, promoted(g, a, b), ([left, right]) => add(g, left!, right!));
}

export function minus(g: Graph, a: Value, b: Value): Value {
  return arithmetic(g, promoted(g, a, b), ([left, right]) => sub(g, left!, right!));
}

export function times(g: Graph, a: Value, b: Value): Value {
  const [left, right] = promoted(g, a, b) as [Value, Value];
  if (left.dtype === 'bool') return logicalAnd(g, left, right);
  return arithmetic(g, [left, right], ([x, y]) => mul(g, x!, y!));
}
