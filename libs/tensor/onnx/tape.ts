import type { Tensor } from 'onnxruntime-node';
import { isFloat, type OpName, type TensorMeta } from '../runtime';
import type { ModuleValue } from './modules';
import type { TensorValue } from './objects';

/** A tensor uploaded with `requiresGrad`: where differentiation ends. */
export interface Leaf {
  readonly kind: 'leaf';
  readonly tensor: Tensor;
}

/** An output of a recorded op or module. It holds the record, not the value, so memory of freed intermediates goes. */
export interface Produced {
  readonly kind: 'produced';
  readonly record: TapeRecord;
  readonly output: number;
}

/** Where a tensor stands in the record of gradients. */
export type Origin = Leaf | Produced;

/** A value that gradients do not reach. */
export interface Constant {
  readonly kind: 'constant';
  readonly tensor: Tensor;
}

export type TapeInput = Origin | Constant;

interface RecordBase {
  readonly inputs: readonly TapeInput[];
  /** The random numbers that the pass used; differentiation uses them again, never draws anew. */
  readonly draws: readonly Float32Array[];
}

export interface OpRecord extends RecordBase {
  readonly kind: 'op';
  readonly name: OpName;
  readonly attrs: unknown;
  /** Name and attributes as a key. */
  readonly key: string;
}

export interface ModuleRecord extends RecordBase {
  readonly kind: 'module';
  readonly module: ModuleValue;
  readonly mode: 'train' | 'eval';
  /** The weights that the pass used, in the order of the module's names. */
  readonly weights: readonly Tensor[];
}

/**
 * One step of a differentiable computation. A record is reachable from its outputs' handles and from records made of them, and from nowhere
 * else: it lives exactly as long as something alive depends on it, like an autograd graph.
 */
export type TapeRecord = OpRecord | ModuleRecord;

export function plain(tensor: Tensor): TensorValue {
  return { kind: 'tensor', tensor, origin: null };
}

export function leaf(tensor: Tensor): TensorValue {
  return { kind: 'tensor', tensor, origin: { kind: 'leaf', tensor } };
}

/** Output number `output` of `record`; integers and booleans have no gradient. */
export function produced(tensor: Tensor, record: TapeRecord, output: number): TensorValue {
  const differentiable = isFloat(tensor.type as TensorMeta['dtype']);
  return { kind: 'tensor', tensor, origin: differentiable ? { kind: 'produced', record, output } : null };
}

export function tapeInput(value: TensorValue): TapeInput {
  return value.origin ?? { kind: 'constant', tensor: value.tensor };
}
