import type { LayerName, NormalLayer } from '../../runtime';
import type { EmitContext } from '../compiler';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';

/** What a layer's emitter may use besides its inputs and parameters. */
export interface LayerContext extends EmitContext {
  /** A weight or buffer by its name in the layer; null where the layer has none of that name. */
  weight(name: string): Value | null;
  /** One that the layer must have. */
  required(name: string): Value;
  /** Replaces a buffer after this pass. */
  update(name: string, value: Value): void;
  /** Whether nothing outside the module can ask for this input or its gradient, so that its node may be rewritten. */
  isPrivate(input: number): boolean;
}

export type LayerEmitter<N extends LayerName> = (
  g: Graph,
  inputs: readonly [Value, ...Value[]],
  params: NormalLayer<N>,
  context: LayerContext,
) => Value | readonly Value[];

export type LayerEmitters<N extends LayerName = LayerName> = { readonly [K in N]: LayerEmitter<K> };
