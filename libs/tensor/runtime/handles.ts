import type { Device, DType, Shape } from './values';
import type { ModuleSpec, OptimizerSpec } from './vocabulary';

/** Id, kind and reference count, known without asking the runtime. Using a freed handle throws `handle_freed` at once. */
export interface Handle {
  readonly id: number;
  readonly label: string;
  retain(): this;
  release(): void;
  readonly freed: boolean;
}
/** An immutable tensor in the runtime. Shape and dtype come from shape inference, so they never cost a round trip. */
export interface TensorRef extends Handle {
  readonly kind: 'tensor';
  readonly shape: Shape;
  readonly dtype: DType;
  readonly device: Device;
}
/** A module built from a `ModuleSpec`. Its train/eval mode is an argument of each call, not a state. */
export interface ModuleRef extends Handle {
  readonly kind: 'module';
  readonly spec: ModuleSpec;
  readonly parameters: readonly ParamMeta[];
  readonly device: Device;
}
export interface OptimizerRef extends Handle {
  readonly kind: 'optimizer';
  readonly spec: OptimizerSpec;
  readonly module: ModuleRef;
}
/** A seeded random stream. */
export interface GeneratorRef extends Handle {
  readonly kind: 'generator';
  readonly seed: number;
}
/** A copy of tensors by name (weights, optimiser state), kept in the runtime: best weights, rebinding, files. */
export interface StateRef extends Handle {
  readonly kind: 'state';
  readonly entries: readonly ParamMeta[];
}
export interface ParamMeta {
  readonly name: string;
  readonly shape: Shape;
  readonly dtype: DType;
  readonly trainable: boolean;
}
