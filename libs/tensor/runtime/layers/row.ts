import { readFields, type Fields, type Schema } from '../fields';
import type { Init, LayerDef, LayerWeight } from '../layer-def';
import type { Shape } from '../values';
import type { TensorMeta } from '../vocabulary';

/** One layer as its family writes it. */
interface LayerRow<S extends Schema, P> {
  readonly arity?: number | readonly [min: number, max: number];
  /** Derives what the compiler needs from the arguments read. */
  derive(read: Fields<S>): P;
  weights?(params: P): readonly LayerWeight[];
  infer(inputs: readonly TensorMeta[], params: P, mode: 'train' | 'eval'): readonly TensorMeta[];
}

/** `fields` reads PyTorch's constructor arguments. Arity defaults to one input, weights to none. */
export function layer<S extends Schema, P>(name: string, fields: S, row: LayerRow<S, P>): LayerDef<P> {
  return {
    arity: row.arity ?? 1,
    normalise: (params) => row.derive(readFields(fields, params, name)),
    weights: (params) => row.weights?.(params) ?? [],
    infer: (inputs, params, mode = 'eval') => row.infer(inputs, params, mode),
  };
}

export function parameter(name: string, shape: Shape, init: Init): LayerWeight {
  return { name, shape, dtype: 'float32', trainable: true, init };
}

export function buffer(name: string, shape: Shape, init: Init, dtype: LayerWeight['dtype'] = 'float32'): LayerWeight {
  return { name, shape, dtype, trainable: false, init };
}

/** PyTorch's `kaiming_uniform_(a=sqrt(5))`, and the same bound for the bias: 1 / sqrt(fan in). */
export function fanIn(fan: number): Init {
  return { kind: 'uniform', bound: fan > 0 ? 1 / Math.sqrt(fan) : 0 };
}

export const ZEROS: Init = { kind: 'zeros' };
export const ONES: Init = { kind: 'ones' };
