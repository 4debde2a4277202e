import type { NormalOpTable, OpName } from '../../runtime';
import type { EmitContext } from '../compiler';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';

/** Emits one op from normalised attributes. */
export type OpEmitter<N extends OpName> = (
  g: Graph,
  inputs: readonly [Value, ...Value[]],
  attrs: NormalOpTable[N],
  context: EmitContext,
) => Value | readonly Value[];

export type OpEmitters<N extends OpName> = { readonly [K in N]: OpEmitter<K> };
