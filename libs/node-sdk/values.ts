import type { Handle, LossSpec, ModuleRef, OptimizerRef, TensorRef } from '@cdui/tensor/runtime';
import type { Batch } from '@cdui/tensor/runtime';

/** Something that travels along an edge and holds runtime handles that must live as long as it does. */
export interface HandleOwner {
  handles(): readonly Handle[];
}

/** Rows of one data set. Either resident in the runtime, or read by index on the host. */
export interface DatasetValue extends HandleOwner {
  readonly kind: 'dataset';
  readonly name: string;
  readonly length: number;
  /** Class names, if the set has classes. */
  readonly classes: readonly string[] | null;
  /** Field name -> shape of one row. The first is the input, the second (if any) the target. */
  readonly fields: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly dtype: 'float32' | 'int64';
  }[];
  /** Scale and shift applied in the runtime to a field stored as uint8 (value * scale + shift). */
  readonly affine: Readonly<Record<string, { readonly scale: number; readonly shift: number }>>;
  /** One batch for a trainer or evaluator. */
  batch(rows: Int32Array): Batch;
}

/** A data set with an order: what a DataLoader gives to a loop. */
export interface DataLoaderValue extends HandleOwner {
  readonly kind: 'dataloader';
  readonly dataset: DatasetValue;
  readonly batchSize: number;
  readonly shuffle: boolean;
  readonly dropLast: boolean;
  /** Batches per epoch. */
  readonly length: number;
  /** Row indices of one epoch, batch by batch. Each call continues the loader's random stream. */
  epoch(): Iterable<Int32Array>;
}

/** Arguments of a loss, as the Loss node gives them. */
export interface LossValue {
  readonly kind: 'loss';
  readonly spec: LossSpec;
}

/** A schedule of the learning rate as plain numbers; bound to an optimiser by whoever trains. */
export interface SchedulerValue {
  readonly kind: 'scheduler';
  readonly type: string;
  readonly params: Readonly<Record<string, number>>;
}

/** A list of image transforms (no handles). */
export interface TransformValue {
  readonly kind: 'transform';
  readonly steps: readonly Readonly<Record<string, unknown>>[];
}

/**
 * What may travel along an edge. TENSOR and IMAGE: TensorRef; MODEL: ModuleRef; OPTIMIZER: OptimizerRef; SCALAR: number;
 * STRING: string; LIST: array; DATASET, DATALOADER, LOSS_FN, TRANSFORM: the values above; ANY: any of them or plain JSON.
 */
export type PortValue =
  | TensorRef
  | ModuleRef
  | OptimizerRef
  | DatasetValue
  | DataLoaderValue
  | LossValue
  | SchedulerValue
  | TransformValue
  | number
  | string
  | boolean
  | null
  | readonly PortValue[]
  | { readonly [key: string]: PortValue };
