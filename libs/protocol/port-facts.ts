/**
 * What one port carries, in plain data. Made where the value lives, before its handles go; the event builders word it. The port is the
 * node's own, or one of the recorded kinds: `<port>__grad`, `__weight_grad__<param>`, `__steps__`, `__step__<i>__<key>`.
 */
export type PortFacts = { readonly port: string } & ValueFacts;

export type ValueFacts =
  | TensorFacts
  | GradientFacts
  | { readonly kind: 'model'; readonly class: string; readonly params: number; readonly trainable: number }
  | { readonly kind: 'scalar'; readonly value: number | boolean | null }
  | { readonly kind: 'string'; readonly value: string }
  | {
      readonly kind: 'list';
      readonly length: number;
      readonly repr: string;
      /** Short lists of primitives or of number pairs only. */
      readonly values: readonly unknown[] | null;
    }
  | { readonly kind: 'steps'; readonly steps: readonly StepFacts[] }
  | { readonly kind: 'other'; readonly type: string; readonly repr: string };

export interface TensorFacts {
  readonly kind: 'tensor';
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly min: number | null;
  readonly max: number | null;
  /** Floating dtypes only. */
  readonly mean: number | null;
  /** All elements, row-major, of a tensor of at most 256. */
  readonly values: readonly number[] | null;
}

export interface GradientFacts extends Omit<TensorFacts, 'kind'> {
  readonly kind: 'gradient';
  readonly health: GradientHealth;
}

/** One recorded step of a node's own computation; its tensors are ports `__step__<index>__<key>`. */
export interface StepFacts {
  readonly index: number;
  readonly name: string;
  readonly description: string;
  readonly scalars: Readonly<Record<string, number>>;
  readonly tensor_keys: readonly string[];
}

export interface GradientHealth {
  readonly status: 'healthy' | 'vanishing' | 'exploding' | 'unknown';
  readonly norm: number | null;
  /** Means and maxima are of absolute values. */
  readonly mean: number | null;
  readonly max: number | null;
}
