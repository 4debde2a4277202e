import { RuntimeError } from '../errors';
import { invalid, unsupported } from '../fields';
import { inferLoss, normaliseLoss } from '../losses';
import type { OpDef, OpName, OpTable, TensorMeta } from '../vocabulary';
import { CREATE } from './create';
import { ELEMENTWISE } from './elementwise';
import { REDUCE } from './reduce';
import type { NormalOpTable, OpRow, Rows } from './row';
import { SHAPING } from './shaping';
import { SPATIAL } from './spatial';

export { ACTIVATIONS } from './elementwise';
export { DTYPES, elements, isFloat, promote, broadcast, resolveDim, showShape } from './meta';
export type { NormalConv2d, NormalOpTable, NormalPool, NormalRange } from './row';
export { convSizes, matmulShape, poolShape } from './spatial';
export { normaliseRange, rangeLength } from './shaping';

const LOSS: Rows<'loss'> = { loss: { arity: [1, 2], normalise: normaliseLoss, infer: inferLoss } };
const ROWS: Rows<OpName> = { ...ELEMENTWISE, ...REDUCE, ...SHAPING, ...SPATIAL, ...CREATE, ...LOSS };

/** `[least, most]` of an arity. */
export function arityRange(arity: number | readonly [number, number]): readonly [number, number] {
  return typeof arity === 'number' ? [arity, arity] : arity;
}

/** Throws `invalid_argument` when `count` inputs are not what `arity` allows. */
export function checkArity(arity: number | readonly [number, number], count: number, what: string): void {
  const [min, max] = arityRange(arity);
  if (count >= min && count <= max) return;
  const wanted = min === max ? `${min}` : max === Infinity ? `at least ${min}` : `${min} to ${max}`;
  throw invalid(`${what} takes ${wanted} input${wanted === '1' ? '' : 's'}, got ${count}`);
}

type Table = { readonly [N in OpName]: OpDef<OpTable[N], NormalOpTable[N]> };

function complete(name: OpName, row: OpRow<OpName>): OpDef<OpTable[OpName], NormalOpTable[OpName]> {
  const normalise = (attrs: OpTable[OpName], inputs: readonly TensorMeta[]) => {
    checkArity(row.arity, inputs.length, name);
    return row.normalise(attrs, inputs);
  };
  return {
    arity: row.arity,
    differentiable: row.differentiable ?? true,
    ...(row.random ? { random: true } : {}),
    normalise,
    infer: (inputs, attrs) => row.infer(inputs, normalise(attrs, inputs)),
  };
}

/** The vocabulary's ops: arity, attributes with PyTorch's defaults, and shape inference. */
export const OPS: Table = Object.fromEntries(
  Object.entries(ROWS).map(([name, row]) => [name, complete(name as OpName, row as OpRow<OpName>)]),
) as unknown as Table;

/** The row of an op; throws `unsupported` for a name that is not in the vocabulary. */
export function opDef<N extends OpName>(name: N): Table[N] {
  if (!Object.hasOwn(OPS, name)) throw unsupported(`unknown op '${String(name)}'`);
  return OPS[name];
}

/**
 * Attributes with every default filled, pairs as [height, width], dimensions counted from the start. Idempotent.
 * @throws RuntimeError `invalid_argument` naming an unknown or bad attribute
 */
export function normaliseOp<N extends OpName>(
  name: N,
  attrs: OpTable[N],
  inputs: readonly TensorMeta[],
): NormalOpTable[N] {
  return opDef(name).normalise(attrs, inputs);
}

/**
 * Normalised attributes and the outputs' shapes and dtypes, in one go.
 * @throws RuntimeError `shape_mismatch` or `invalid_argument`, with `op` set
 */
export function inferOp<N extends OpName>(
  name: N,
  inputs: readonly TensorMeta[],
  attrs: OpTable[N],
): { readonly attrs: NormalOpTable[N]; readonly outputs: readonly TensorMeta[] } {
  try {
    const normal = opDef(name).normalise(attrs, inputs);
    const row = ROWS[name] as unknown as OpRow<N>;
    return { attrs: normal, outputs: row.infer(inputs, normal) };
  } catch (error) {
    throw error instanceof RuntimeError ? new RuntimeError(error.code, error.message, { op: name }) : error;
  }
}
