import type { GeneratorRef, ModuleRef, OptimizerRef, TensorRef } from './handles';
import type { HostTensor } from './values';
import type { Hyper, LossSpec, Precision } from './vocabulary';

/** Rows of tensors that lie in the runtime, picked by index; or host data. `affine` turns uint8 into scaled float32 in the runtime. */
export type Batch =
  | { readonly rows: Int32Array; readonly from: Readonly<Record<string, TensorRef>> }
  | { readonly host: Readonly<Record<string, HostTensor>> };
/** Module input port -> batch field; which output goes to the loss (default: the only one); no target: the loss takes the output alone. */
export interface Feed {
  readonly inputs: Readonly<Record<string, string>>;
  readonly output?: string;
  readonly target?: string;
  readonly affine?: Readonly<Record<string, { scale: number; shift: number }>>;
}
export interface TrainerSpec {
  module: ModuleRef;
  optimizer: OptimizerRef;
  loss: LossSpec;
  feed: Feed;
  precision: Precision;
  clipGradNorm?: number;
  generator?: GeneratorRef;
  deterministic?: boolean;
  observe?: { gradNorm?: boolean; updateRatio?: boolean; accuracy?: boolean };
  /** Unacknowledged steps. Default: as many as fit 50 ms, at least 2, at most 32. */
  window?: number;
  dataParallel?: boolean;
  signal?: AbortSignal;
}
export interface StepOptions {
  /** false: add to the gradients only. Default true. */ apply?: boolean;
  /** Multiplies the loss before backward (1/n when accumulating). Default 1. */ scale?: number;
}
export interface Trainer {
  /** Takes effect from the next step, in order. */
  setHyper(hyper: Hyper): void;
  /** Resolves when the step is accepted, not when it has run: backpressure and stop point in one. Rejects with `cancelled` or the error of an earlier step. */
  step(batch: Batch, options?: StepOptions): Promise<StepTicket>;
  /** Drops gradients gathered since the last applied step. */
  discard(): void;
  /** Waits for all accepted steps; columns since the last call, one row per step. The only read of a training loop. */
  collect(): Promise<StepColumns>;
  scalerState(): Promise<Record<string, number> | null>;
  loadScalerState(state: Record<string, number>): void;
  close(): void;
}
export interface StepTicket {
  readonly index: number;
  /** Lazy: one read for all open tickets; does not take rows from `collect`. */ loss(): Promise<number>;
}
/** NaN where a column does not apply to a row (norms of a step with apply: false). Losses are unscaled. */
export interface StepColumns {
  index: Int32Array;
  loss: Float32Array;
  lr: Float32Array;
  gradNorm?: Float32Array;
  gradNormClipped?: Float32Array;
  updateRatio?: Float32Array;
  correct?: Int32Array;
  count?: Int32Array;
  skipped: Uint8Array;
  seconds: number;
}
export interface EvaluatorSpec {
  module: ModuleRef;
  feed: Feed;
  precision: Precision;
  loss?: LossSpec;
  accuracy?: boolean;
  window?: number;
  signal?: AbortSignal;
}
/** Eval mode, no gradients, no optimiser. Sums stay in the runtime until `collect`. */
export interface Evaluator {
  step(batch: Batch): Promise<void>;
  collect(): Promise<{ losses: Float32Array; correct: number; count: number }>;
  close(): void;
}
