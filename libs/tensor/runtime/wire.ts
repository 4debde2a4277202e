import type { Device, DType, HostTensor, Shape } from './values';
import type { Hyper, LossSpec, ModuleSpec, OpName, OptimizerSpec, Precision, SliceRange } from './vocabulary';
import type { MemoryFacts, TensorStats } from './runtime';
import type { Feed, StepColumns } from './training';
import type { ParamMeta } from './handles';

/** Where a command's binary part is: index into the frame's `blobs`, and its length in bytes. */
export interface BlobRef {
  readonly blob: number;
  readonly n: number;
}

/** What an op needs besides its attributes: whether to record it for `backward`, and its random stream. */
export interface OpContext {
  readonly grad?: boolean;
  readonly gen?: number;
}

export interface TrainerWire {
  readonly module: number;
  readonly optimizer: number;
  readonly loss: LossSpec;
  readonly feed: Feed;
  readonly precision: Precision;
  readonly clipGradNorm?: number;
  readonly gen: number;
  readonly deterministic?: boolean;
  readonly observe?: { readonly gradNorm?: boolean; readonly updateRatio?: boolean; readonly accuracy?: boolean };
}

export interface EvaluatorWire {
  readonly module: number;
  readonly feed: Feed;
  readonly precision: Precision;
  readonly loss?: LossSpec;
  readonly accuracy?: boolean;
}

/**
 * Commands of the seam, in the order a client issues them; results are named by the client (ids). The ONNX worker takes
 * them by structured clone, the Python host as JSON. `[]` of numbers are handle ids.
 */
export type Command =
  | readonly ['init', { device: Device; threads: number; deterministic: boolean; cap: number | null }]
  | readonly ['op', OpName, readonly number[], readonly number[], unknown, OpContext]
  | readonly ['put', number, Shape, DType, BlobRef | null, { grad?: boolean }]
  | readonly ['write', number, number, BlobRef]
  | readonly ['free', readonly number[]]
  | readonly ['read', number, readonly SliceRange[] | null]
  | readonly ['stats', number]
  | readonly ['gen', number, number]
  | readonly ['module', number, ModuleSpec, number]
  | readonly [
      'forward',
      number,
      Readonly<Record<string, number>>,
      Readonly<Record<string, number>>,
      { mode: 'train' | 'eval'; precision: Precision; grad: boolean; gen: number },
    ]
  | readonly ['optimizer', number, number, OptimizerSpec]
  | readonly ['bind', number, number, number, 'reused' | 'rebound' | 'rebuilt']
  | readonly ['trainer', number, TrainerWire]
  | readonly ['hyper', number, Hyper]
  | readonly ['step', number, Readonly<Record<string, number>>, BlobRef, boolean, number]
  | readonly [
      'stepHost',
      number,
      Readonly<Record<string, { shape: Shape; dtype: DType; data: BlobRef }>>,
      boolean,
      number,
    ]
  | readonly ['collect', number]
  | readonly ['discard', number]
  | readonly ['scaler', number, Readonly<Record<string, number>> | null]
  | readonly ['evaluator', number, EvaluatorWire]
  | readonly ['eval', number, Readonly<Record<string, number>>, BlobRef]
  | readonly ['evalHost', number, Readonly<Record<string, { shape: Shape; dtype: DType; data: BlobRef }>>]
  | readonly ['collectEval', number]
  /** `of`, wanted tensors, wanted modules; result ids: one per tensor, one map per module (parameter name -> id). Reply: which are non-null. */
  | readonly [
      'backward',
      number,
      readonly number[],
      readonly number[],
      readonly number[],
      readonly Readonly<Record<string, number>>[],
    ]
  | readonly ['snapshot', number, number]
  | readonly ['restore', number, number, boolean]
  | readonly ['state', number, Readonly<Record<string, number>>]
  | readonly ['tensors', number, Readonly<Record<string, number>>]
  | readonly ['save', string, Readonly<Record<string, number>>, Readonly<Record<string, string>>]
  /** Reply names the states found with their entries; the client then asks `adopt` for handles of them. */
  | readonly ['load', string]
  | readonly ['adopt', number, string, string]
  | readonly ['memory']
  | readonly ['resetPeak']
  | readonly ['releaseCache']
  | readonly ['sync']
  | readonly ['end'];

/** What each command that has a reply answers (`ServerFrame.r`); all other commands answer nothing. */
export interface Replies {
  read: HostTensor;
  stats: TensorStats;
  collect: StepColumns;
  /** Null where the precision needs no loss scale. A `scaler` command that sets a state is answered as well. */
  scaler: Readonly<Record<string, number>> | null;
  collectEval: { readonly losses: Float32Array; readonly correct: number; readonly count: number };
  /** Which of the wanted results exist; ids of the others were not created. */
  backward: {
    readonly tensors: readonly boolean[];
    readonly parameters: readonly Readonly<Record<string, boolean>>[];
  };
  restore: { readonly missing: readonly string[]; readonly unexpected: readonly string[] };
  save: { readonly bytes: number; readonly sha256: string };
  load: {
    readonly states: Readonly<Record<string, readonly ParamMeta[]>>;
    readonly metadata: Readonly<Record<string, string>>;
  };
  memory: MemoryFacts;
  releaseCache: null;
  sync: null;
}

/** Client to server: sequence number of the first command, the commands, their binary parts (transferred). */
export interface ClientFrame {
  readonly s: number;
  readonly b: readonly Command[];
  readonly blobs: readonly ArrayBufferView[];
}

export interface WireError {
  readonly code: string;
  /** At most 2,000 characters. */
  readonly message: string;
  readonly op?: string;
  readonly detail?: string;
}

/** Server to client: last sequence number done; errors; poisoned commands with the sequence number of their cause; replies. */
export interface ServerFrame {
  readonly a: number;
  readonly e?: readonly (readonly [seq: number, error: WireError])[];
  readonly x?: readonly (readonly [seq: number, cause: number])[];
  readonly r?: readonly (readonly [seq: number, value: unknown])[];
}

export interface Hello {
  readonly protocol: 1;
  readonly kind: 'onnx' | 'torch';
  readonly version: string;
  readonly device: Device;
  readonly deviceName: string;
  readonly pid: number;
  readonly threads: number;
  readonly precisions: readonly Precision[];
  readonly numerics: Readonly<Record<string, string>>;
}

/** Moves frames one way and answers the other; knows nothing of tensors. `onDown` is called once, when the far side is gone. */
export interface Transport {
  readonly hello: Promise<Hello>;
  onFrame: (frame: ServerFrame) => void;
  onDown: (error: {
    code: 'host_exited' | 'start_failed';
    message: string;
    signal?: string;
    exitCode?: number;
    output?: string;
  }) => void;
  send(frame: ClientFrame): void;
  /** Ends the far side after its queued work; `force` at once. */
  close(options: { force: boolean }): Promise<void>;
}
