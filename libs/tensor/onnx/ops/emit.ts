import { normaliseOp, opDef, RuntimeError, type OpName } from '../../runtime';
import { isFloating, meta } from '../graph/data';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import type { EmitContext } from '../compiler';
import { ARITHMETIC } from './emit-arithmetic';
import { fresh } from './elementwise';
import type { OpEmitter } from './emit-row';
import { SHAPING } from './emit-shaping';
import { SPATIAL } from './emit-spatial';

const EMITTERS: Readonly<Partial<Record<OpName, unknown>>> = { ...ARITHMETIC, ...SHAPING, ...SPATIAL };

/** Kernels that exist for float32 only. */
const SINGLE: ReadonlySet<OpName> = new Set<OpName>([
  'conv1d',
  'conv2d',
  'convTranspose2d',
  'maxPool2d',
  'avgPool2d',
  'upsample',
]);

/**
 * Emits one op of the vocabulary; attributes as the caller gave them.
 * @throws RuntimeError `unsupported` for what this runtime has no kernel for
 */
export function emitOp(
  g: Graph,
  name: OpName,
  inputs: readonly Value[],
  attrs: unknown,
  context: EmitContext,
): readonly Value[] {
  const emitter = EMITTERS[name] as OpEmitter<OpName> | undefined;
  if (!emitter) {
    const known = opDef(name);
    throw new RuntimeError(
      'unsupported',
      `op ${name} is not part of a graph${known.random ? ': its numbers are drawn outside' : ''}`,
      {
        op: name,
      },
    );
  }
  if (SINGLE.has(name) && inputs.some(({ dtype }) => isFloating(dtype) && dtype !== 'float32')) {
    throw new RuntimeError(
      'unsupported',
      `op ${name} computes in float32 only on this runtime: cast its input to float32`,
      {
        op: name,
      },
    );
  }
  const result = emitter(
    g,
    inputs as [Value, ...Value[]],
    normaliseOp(name, attrs as never, inputs.map(meta)),
    context,
  );
  const outputs = Array.isArray(result) ? (result as readonly Value[]) : [result as Value];
  return outputs.map((output) => fresh(g, output, inputs));
}
