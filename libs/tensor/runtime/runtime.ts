import type { RuntimeError } from './errors';
import type { GeneratorRef, Handle, ModuleRef, OptimizerRef, StateRef, TensorRef } from './handles';
import type { Evaluator, EvaluatorSpec, Trainer, TrainerSpec } from './training';
import type { Device, HostTensor } from './values';
import type { ModuleSpec, OpName, OptimizerSpec, OpTable, Precision, SliceRange } from './vocabulary';

/** `prepare` starts a spare host ahead of need; `open` takes it if there is one. `open` rejects with `start_failed`, the reason in `output`. */
export interface RuntimeFactory {
  prepare(): void;
  open(options: RuntimeOptions): Promise<TensorRuntime>;
  close(): Promise<void>;
}
export interface RuntimeOptions {
  device: Device;
  threads?: number;
  deterministic?: boolean;
  /** Most bytes the runtime may take; refused by one that cannot keep to it. */
  memoryCapBytes?: number;
  python?: string;
  rank?: { index: number; size: number; rendezvous: string };
}
export interface RuntimeFacts {
  readonly kind: 'onnx' | 'torch';
  readonly version: string;
  readonly device: Device;
  readonly deviceName: string;
  readonly pid: number;
  readonly precisions: ReadonlySet<Precision>;
  readonly threads: number;
  readonly numerics: Readonly<Record<string, string>>;
} // for the fingerprint
/** Bytes. `peak` is since open or `resetPeak`. `exact`: false when other work shares the process. */
export interface MemoryFacts {
  readonly device: Device;
  readonly used: number;
  readonly peak: number;
  readonly cap: number | null;
  readonly total: number;
  readonly exact: boolean;
  readonly liveHandles: number;
}
export interface TensorRuntime {
  readonly facts: RuntimeFacts;
  /** Opens an owner of handles. Every method that creates something is on the scope. `seed` sets its default generator; without one it is random. */
  openScope(options: { label: string; seed?: number; recordGradients?: boolean; signal?: AbortSignal }): Scope;
  /** Resolves at once while fewer than 4,096 commands and 64 MiB are unacknowledged, else when they are again. Loops of ops await it. */
  ready(): Promise<void>;
  memory(): Promise<MemoryFacts>;
  resetPeak(): void;
  /** Gives cached memory back to the device; used after `out_of_memory`. */
  releaseCache(): Promise<void>;
  /** Waits for queued work, then ends the thread or process. `force` kills a host at once; refused by an embedded runtime while it computes. */
  close(options?: { force?: boolean }): Promise<void>;
  /** Resolves once, when the runtime is gone for any reason; never rejects. */
  readonly gone: Promise<RuntimeError | null>;
}
/** Calls that return a handle return at once and only queue a command. Calls that return a promise wait for a result. */
export interface Scope {
  readonly label: string;
  readonly runtime: TensorRuntime;
  op<N extends OpName>(
    name: N,
    inputs: readonly TensorRef[],
    attrs: OpTable[N],
    options?: { generator?: GeneratorRef },
  ): TensorRef;
  /** For ops with several outputs: chunk, topk, sort. */
  opMany<N extends OpName>(
    name: N,
    inputs: readonly TensorRef[],
    attrs: OpTable[N],
    options?: { generator?: GeneratorRef },
  ): readonly TensorRef[];
  /** Takes the buffer over: it is detached or must not be touched again. Pass a copy to keep one. */
  upload(value: HostTensor, options?: { device?: Device; requiresGrad?: boolean }): TensorRef;
  to(tensor: TensorRef, device: Device): TensorRef;
  generator(seed: number): GeneratorRef;

  module(spec: ModuleSpec, options?: { generator?: GeneratorRef; device?: Device }): ModuleRef;
  forward(
    module: ModuleRef,
    inputs: Readonly<Record<string, TensorRef>>,
    options: { mode: 'train' | 'eval'; precision?: Precision },
  ): Readonly<Record<string, TensorRef>>;
  /** Snapshot and restore stay in the runtime. `restore` reports unknown, missing and mis-shaped names; strict makes them errors. */
  snapshot(source: ModuleRef | OptimizerRef): StateRef;
  restore(
    target: ModuleRef | OptimizerRef,
    state: StateRef,
    options?: { strict?: boolean },
  ): Promise<{ missing: string[]; unexpected: string[] }>;
  /** Safetensors, written and read by the runtime itself: weights do not cross the seam. The caller renames into place. */
  saveState(
    path: string,
    states: Readonly<Record<string, StateRef>>,
    metadata: Readonly<Record<string, string>>,
  ): Promise<{ bytes: number; sha256: string }>;
  loadState(path: string): Promise<{ states: Record<string, StateRef>; metadata: Record<string, string> }>;
  stateFrom(entries: Readonly<Record<string, TensorRef>>): StateRef;
  tensorsOf(state: StateRef): Readonly<Record<string, TensorRef>>;

  optimizer(module: ModuleRef, spec: OptimizerSpec): OptimizerRef;
  /** reused: same module; rebound: same shapes in order, state moved; rebuilt: new state. Decided in TypeScript from the metadata. */
  bindOptimizer(
    optimizer: OptimizerRef,
    module: ModuleRef,
  ): { optimizer: OptimizerRef; how: 'reused' | 'rebound' | 'rebuilt' };
  trainer(spec: TrainerSpec): Trainer;
  evaluator(spec: EvaluatorSpec): Evaluator;
  /** Needs a scope with `recordGradients`. Gradients of the sum of `of`; null where it does not depend on the item. */
  backward(
    of: TensorRef,
    wanted: { tensors: readonly TensorRef[]; modules: readonly ModuleRef[] },
  ): Promise<{ tensors: (TensorRef | null)[]; parameters: Record<string, TensorRef | null>[] }>;

  read(tensor: TensorRef, options?: { ranges?: readonly SliceRange[] }): Promise<HostTensor>;
  readScalar(tensor: TensorRef): Promise<number>;
  /** Exact up to 4M elements, above that on a sample of 1M (then `sampled`). Histogram of 64 bins between min and max. */
  stats(tensor: TensorRef): Promise<TensorStats>;
  /** Hands a handle to its next owner: it survives this scope. The engine does this for node outputs. */
  keep<H extends Handle>(handle: H, owner?: Scope): H;
  /** Waits until everything queued by this scope has run, the device included. Rejects with its first error nobody has seen. */
  settle(): Promise<void>;
  /** Frees what the scope still owns. Never throws, sends one command. */
  close(): void;
}
export interface TensorStats {
  count: number;
  min: number;
  max: number;
  mean: number;
  nan: number;
  inf: number;
  zeroFraction: number;
  norm: number;
  histogram: number[];
  classes?: Record<string, number>;
  sampled: boolean;
}
