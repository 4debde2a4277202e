import type { TensorMeta } from './vocabulary';
import type { DType, Shape } from './values';

/** How PyTorch fills a fresh parameter or buffer. `bound` and `std` are plain numbers, already derived from the fan. */
export type Init =
  | { readonly kind: 'zeros' }
  | { readonly kind: 'ones' }
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'uniform'; readonly bound: number }
  | {
      readonly kind: 'normal';
      readonly std: number;
      /** A row set to zero (`padding_idx`). */ readonly zeroRow?: number;
    };

/** One parameter (trainable) or buffer (not trainable) of a layer; `name` as in PyTorch's state dict (`weight`, `in_proj_weight`, `running_mean`). */
export interface LayerWeight {
  readonly name: string;
  readonly shape: Shape;
  readonly dtype: DType;
  readonly trainable: boolean;
  readonly init: Init;
}

/**
 * One row per layer of the vocabulary. `params` are PyTorch's constructor keyword arguments.
 * `normalise` fills defaults, expands pairs and throws `invalid_argument` naming an unknown or bad argument;
 * the other members take normalised params only.
 */
export interface LayerDef<P = Readonly<Record<string, unknown>>> {
  readonly arity: number | readonly [min: number, max: number];
  normalise(params: Readonly<Record<string, unknown>>): P;
  /** In state-dict order. */
  weights(params: P): readonly LayerWeight[];
  /** Output shapes; throws `shape_mismatch` in PyTorch's terms. `mode` adds what only training refuses. */
  infer(inputs: readonly TensorMeta[], params: P, mode?: 'train' | 'eval'): readonly TensorMeta[];
}
