import { RuntimeError } from '../errors';
import { invalid, unsupported } from '../fields';
import type { GeneratorRef, Handle, ModuleRef, OptimizerRef, ParamMeta, StateRef, TensorRef } from '../handles';
import { elements, inferOp, normaliseRange, opDef } from '../ops';
import type { Scope, TensorRuntime, TensorStats } from '../runtime';
import {
  checkPorts,
  inferModule,
  moduleParameters,
  normaliseLoss,
  normaliseOptimizer,
  optimizerEntries,
  validateModule,
} from '../specs';
import type { Evaluator, EvaluatorSpec, Feed, Trainer, TrainerSpec } from '../training';
import type { Device, HostTensor } from '../values';
import type {
  LossSpec,
  ModuleSpec,
  OpName,
  OptimizerSpec,
  OpTable,
  Precision,
  SliceRange,
  TensorMeta,
} from '../vocabulary';
import type { Command, Replies } from '../wire';
import { Issuer, type AddBlob, type Connection } from './connection';
import { checkHostTensor, ownBuffer } from './host-data';
import { asRemote, Ownership } from './ownership';
import { GeneratorHandle, ModuleHandle, OptimizerHandle, RemoteHandle, StateHandle, TensorHandle } from './refs';
import { ClientEvaluator, ClientTrainer, type Seat } from './trainer';

export interface ScopeOptions {
  readonly label: string;
  readonly seed?: number;
  readonly recordGradients?: boolean;
  /**
   * Aborted: ops, forwards and backwards throw `cancelled`, trainers and evaluators opened without a signal of their own stop at their next
   * step. Reads, snapshots and files still work, so that a checkpoint can be written.
   */
  readonly signal?: AbortSignal;
}

/** What a scope needs of its runtime. */
export interface ScopeHost {
  readonly runtime: TensorRuntime;
  readonly connection: Connection;
  readonly device: Device;
  readonly precisions: ReadonlySet<Precision>;
  now(): number;
  randomSeed(): number;
}

export class ClientScope implements Scope {
  readonly label: string;
  private readonly issuer: Issuer;
  private readonly owned = new Ownership();
  private readonly jobs = new Set<Trainer | Evaluator>();
  private defaultGenerator: GeneratorHandle | null = null;
  private closed = false;

  constructor(
    private readonly host: ScopeHost,
    private readonly options: ScopeOptions,
  ) {
    this.label = options.label;
    this.issuer = new Issuer(options.label);
  }

  get runtime(): TensorRuntime {
    return this.host.runtime;
  }

  op<N extends OpName>(
    name: N,
    inputs: readonly TensorRef[],
    attrs: OpTable[N],
    options: { generator?: GeneratorRef } = {},
  ): TensorRef {
    const outputs = this.opMany(name, inputs, attrs, options);
    if (outputs.length !== 1) {
      throw this.named(invalid(`${name} has ${outputs.length} outputs: use opMany`), name);
    }
    return outputs[0]!;
  }

  opMany<N extends OpName>(
    name: N,
    inputs: readonly TensorRef[],
    attrs: OpTable[N],
    options: { generator?: GeneratorRef } = {},
  ): readonly TensorRef[] {
    this.checkRunning(name);
    for (const input of inputs) this.use(input, name);
    const inferred = this.labelled(name, () => inferOp(name, inputs, attrs));
    const outputs = inferred.outputs.map((meta) => this.tensor(meta));
    const random = opDef(name).random ? { gen: this.generatorId(options.generator, name) } : {};
    const context = { ...(this.options.recordGradients ? { grad: true } : {}), ...random };
    const ids = outputs.map((output) => output.id);
    this.send(['op', name, inputs.map((input) => input.id), ids, inferred.attrs, context], ids, name);
    return outputs;
  }

  upload(value: HostTensor, options: { device?: Device; requiresGrad?: boolean } = {}): TensorRef {
    this.checkOpen('upload');
    this.labelled('upload', () => {
      checkHostTensor(value, 'upload');
      this.checkDevice(options.device);
    });
    const tensor = this.tensor({ shape: [...value.shape], dtype: value.dtype });
    const data = ownBuffer(value.data);
    const grad = options.requiresGrad ? { grad: true } : {};
    this.send((blob) => ['put', tensor.id, tensor.shape, value.dtype, blob(data), grad], [tensor.id]);
    return tensor;
  }

  to(tensor: TensorRef, device: Device): TensorRef {
    this.checkOpen('to');
    this.use(tensor, 'to');
    this.labelled('to', () => this.checkDevice(device));
    this.owned.hold(asRemote(tensor).retain());
    return tensor;
  }

  generator(seed: number): GeneratorRef {
    this.checkOpen('generator');
    return this.newGenerator(seed);
  }

  module(spec: ModuleSpec, options: { generator?: GeneratorRef; device?: Device } = {}): ModuleRef {
    this.checkOpen('module');
    const parameters = this.labelled('module', () => {
      this.checkDevice(options.device);
      validateModule(spec);
      return moduleParameters(spec);
    });
    const generator = this.generatorId(options.generator, 'module');
    const { connection, device } = this.host;
    const module = this.owned.own(
      new ModuleHandle(connection, connection.allocate(), this.label, spec, parameters, device),
    );
    this.send(['module', module.id, spec, generator], [module.id]);
    return module;
  }

  forward(
    module: ModuleRef,
    inputs: Readonly<Record<string, TensorRef>>,
    options: { mode: 'train' | 'eval'; precision?: Precision },
  ): Readonly<Record<string, TensorRef>> {
    this.checkRunning('forward');
    this.use(module, 'forward');
    for (const input of Object.values(inputs)) this.use(input, 'forward');
    const { mode, precision = 'fp32' } = options;
    const metas = this.labelled('forward', () => {
      this.checkPrecision(precision);
      return module instanceof ModuleHandle ? module.infer(inputs, mode) : inferModule(module.spec, inputs, mode);
    });
    const gen = this.generatorId(undefined, 'forward');
    const outputs = mapValues(metas, (meta) => this.tensor(meta));
    const ids = mapValues(outputs, (output) => output.id);
    const grad = this.options.recordGradients ?? false;
    const context = { mode, precision, grad, gen };
    this.send(['forward', module.id, mapValues(inputs, (input) => input.id), ids, context], Object.values(ids));
    return outputs;
  }

  snapshot(source: ModuleRef | OptimizerRef): StateRef {
    this.checkOpen('snapshot');
    this.use(source, 'snapshot');
    const entries =
      source.kind === 'module' ? source.parameters : optimizerEntries(source.spec, source.module.parameters);
    const state = this.newState(entries);
    this.send(['snapshot', state.id, source.id], [state.id]);
    return state;
  }

  async restore(
    target: ModuleRef | OptimizerRef,
    state: StateRef,
    options: { strict?: boolean } = {},
  ): Promise<{ missing: string[]; unexpected: string[] }> {
    this.checkOpen('restore');
    this.use(target, 'restore');
    this.use(state, 'restore');
    const reply = await this.ask<Replies['restore']>(['restore', target.id, state.id, options.strict ?? false]);
    return { missing: [...reply.missing], unexpected: [...reply.unexpected] };
  }

  async saveState(
    path: string,
    states: Readonly<Record<string, StateRef>>,
    metadata: Readonly<Record<string, string>>,
  ): Promise<{ bytes: number; sha256: string }> {
    this.checkOpen('saveState');
    for (const state of Object.values(states)) this.use(state, 'saveState');
    return this.ask<Replies['save']>(['save', path, mapValues(states, (state) => state.id), { ...metadata }]);
  }

  async loadState(path: string): Promise<{ states: Record<string, StateRef>; metadata: Record<string, string> }> {
    this.checkOpen('loadState');
    const found = await this.ask<Replies['load']>(['load', path]);
    const states: Record<string, StateRef> = {};
    for (const [name, entries] of Object.entries(found.states)) {
      const state = this.newState(entries);
      this.send(['adopt', state.id, path, name], [state.id]);
      states[name] = state;
    }
    // Adopted all the same, so that the runtime does not keep them for nobody.
    if (this.closed) this.owned.close();
    this.checkOpen('loadState');
    return { states, metadata: { ...found.metadata } };
  }

  stateFrom(entries: Readonly<Record<string, TensorRef>>): StateRef {
    this.checkOpen('stateFrom');
    for (const tensor of Object.values(entries)) this.use(tensor, 'stateFrom');
    const metas = Object.entries(entries).map(([name, { shape, dtype }]): ParamMeta => ({
      name,
      shape,
      dtype,
      trainable: true,
    }));
    const state = this.newState(metas);
    this.send(['state', state.id, mapValues(entries, (tensor) => tensor.id)], [state.id]);
    return state;
  }

  tensorsOf(state: StateRef): Readonly<Record<string, TensorRef>> {
    this.checkOpen('tensorsOf');
    this.use(state, 'tensorsOf');
    const tensors = Object.fromEntries(state.entries.map((entry) => [entry.name, this.tensor(entry)]));
    const ids = mapValues(tensors, (tensor) => tensor.id);
    this.send(['tensors', state.id, ids], Object.values(ids));
    return tensors;
  }

  optimizer(module: ModuleRef, spec: OptimizerSpec): OptimizerRef {
    this.checkOpen('optimizer');
    this.use(module, 'optimizer');
    this.labelled('optimizer', () => normaliseOptimizer(spec));
    const optimizer = this.newOptimizer(module, spec);
    this.send(['optimizer', optimizer.id, module.id, spec], [optimizer.id]);
    return optimizer;
  }

  bindOptimizer(
    optimizer: OptimizerRef,
    module: ModuleRef,
  ): { optimizer: OptimizerRef; how: 'reused' | 'rebound' | 'rebuilt' } {
    this.checkOpen('bindOptimizer');
    this.use(optimizer, 'bindOptimizer');
    this.use(module, 'bindOptimizer');
    if (optimizer.module.id === module.id) {
      this.owned.hold(asRemote(optimizer).retain());
      return { optimizer, how: 'reused' };
    }
    const shapes = (of: ModuleRef) =>
      of.parameters.filter(({ trainable }) => trainable).map(({ shape, dtype }) => `${dtype}[${shape.join()}]`);
    const how = shapes(optimizer.module).join() === shapes(module).join() ? 'rebound' : 'rebuilt';
    const bound = this.newOptimizer(module, optimizer.spec);
    this.send(['bind', bound.id, optimizer.id, module.id, how], [bound.id]);
    return { optimizer: bound, how };
  }

  trainer(spec: TrainerSpec): Trainer {
    this.checkOpen('trainer');
    this.use(spec.module, 'trainer');
    this.use(spec.optimizer, 'trainer');
    if (spec.optimizer.module.id !== spec.module.id) {
      throw this.named(invalid('the optimizer belongs to another module: bind it with bindOptimizer first'), 'trainer');
    }
    if (spec.dataParallel) {
      throw this.named(unsupported('dataParallel needs a runtime of several ranks: this one trains alone'), 'trainer');
    }
    const gen = this.generatorId(spec.generator, 'trainer');
    const { clipGradNorm, deterministic, observe, precision } = spec;
    return this.job(
      'trainer',
      (seat, signal) => new ClientTrainer(seat, spec, signal),
      spec,
      (id) => [
        'trainer',
        id,
        {
          module: spec.module.id,
          optimizer: spec.optimizer.id,
          loss: spec.loss,
          feed: spec.feed,
          precision,
          gen,
          ...(clipGradNorm !== undefined ? { clipGradNorm } : {}),
          ...(deterministic !== undefined ? { deterministic } : {}),
          ...(observe !== undefined ? { observe } : {}),
        },
      ],
    );
  }

  evaluator(spec: EvaluatorSpec): Evaluator {
    this.checkOpen('evaluator');
    this.use(spec.module, 'evaluator');
    const { loss, accuracy, feed, precision } = spec;
    return this.job(
      'evaluator',
      (seat, signal) => new ClientEvaluator(seat, spec, signal),
      spec,
      (id) => [
        'evaluator',
        id,
        {
          module: spec.module.id,
          feed,
          precision,
          ...(loss !== undefined ? { loss } : {}),
          ...(accuracy !== undefined ? { accuracy } : {}),
        },
      ],
    );
  }

  async backward(
    of: TensorRef,
    wanted: { tensors: readonly TensorRef[]; modules: readonly ModuleRef[] },
  ): Promise<{ tensors: (TensorRef | null)[]; parameters: Record<string, TensorRef | null>[] }> {
    this.checkRunning('backward');
    if (!this.options.recordGradients) {
      throw this.named(invalid('backward needs a scope opened with recordGradients'), 'backward');
    }
    this.use(of, 'backward');
    for (const handle of [...wanted.tensors, ...wanted.modules]) this.use(handle, 'backward');
    const tensors = wanted.tensors.map((tensor) => this.tensor(tensor));
    const parameters = wanted.modules.map((module) =>
      Object.fromEntries(
        module.parameters.filter(({ trainable }) => trainable).map((meta) => [meta.name, this.tensor(meta)]),
      ),
    );
    const ids = [...tensors, ...parameters.flatMap((map) => Object.values(map))].map((tensor) => tensor.id);
    const idOf = (handle: Handle) => handle.id;
    const reply = await this.ask<Replies['backward']>(
      [
        'backward',
        of.id,
        wanted.tensors.map(idOf),
        wanted.modules.map(idOf),
        tensors.map(idOf),
        parameters.map((map) => mapValues(map, idOf)),
      ],
      ids,
    );
    const existing = (tensor: TensorHandle, exists: boolean | undefined): TensorRef | null => {
      if (!exists) this.owned.drop(tensor);
      return exists ? tensor : null;
    };
    return {
      tensors: tensors.map((tensor, at) => existing(tensor, reply.tensors[at])),
      parameters: parameters.map((map, at) =>
        mapValues(map, (tensor, name) => existing(tensor, reply.parameters[at]?.[name])),
      ),
    };
  }

  async read(tensor: TensorRef, options: { ranges?: readonly SliceRange[] } = {}): Promise<HostTensor> {
    this.checkOpen('read');
    this.use(tensor, 'read');
    const ranges = options.ranges
      ? this.labelled('read', () => {
          const { ranges: given } = options;
          if (given!.length > tensor.shape.length) {
            throw invalid(`too many ranges for a tensor of dimension ${tensor.shape.length}: got ${given!.length}`);
          }
          return tensor.shape.map((size, at) => normaliseRange(given![at] ?? {}, size, at));
        })
      : null;
    return this.ask<Replies['read']>(['read', tensor.id, ranges]);
  }

  async readScalar(tensor: TensorRef): Promise<number> {
    this.checkOpen('readScalar');
    if (elements(tensor.shape) !== 1) {
      throw this.named(
        invalid(`a tensor with ${elements(tensor.shape)} elements cannot be read as one number`),
        'readScalar',
      );
    }
    const { data } = await this.read(tensor);
    return Number((data as unknown as ArrayLike<number | bigint>)[0]);
  }

  async stats(tensor: TensorRef): Promise<TensorStats> {
    this.checkOpen('stats');
    this.use(tensor, 'stats');
    return this.ask<Replies['stats']>(['stats', tensor.id]);
  }

  keep<H extends Handle>(handle: H, owner?: Scope): H {
    const remote = asRemote(handle);
    remote.checkLive('keep');
    this.owned.give(remote);
    if (owner instanceof ClientScope) owner.owned.hold(remote);
    return handle;
  }

  settle(): Promise<void> {
    return this.host.connection.settle(this.issuer);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const job of this.jobs) job.close();
    this.jobs.clear();
    this.owned.close();
    this.defaultGenerator = null;
  }

  private job<J extends Trainer | Evaluator>(
    name: string,
    create: (seat: Seat, signal: AbortSignal | undefined) => J,
    spec: {
      readonly loss?: LossSpec;
      readonly feed: Feed;
      readonly module: ModuleRef;
      readonly signal?: AbortSignal;
      readonly precision: Precision;
    },
    command: (id: number) => Command,
  ): J {
    const { connection, now } = this.host;
    const handle = new RemoteHandle(connection, connection.allocate(), this.label);
    const job = this.labelled(name, () => {
      checkPorts(spec.module.spec.inputs, Object.keys(spec.feed.inputs));
      if (spec.loss) normaliseLoss(spec.loss);
      this.checkPrecision(spec.precision);
      return create({ connection, issuer: this.issuer, handle, now }, spec.signal ?? this.options.signal);
    });
    this.send(command(handle.id), [handle.id]);
    this.jobs.add(job);
    return job;
  }

  private send(command: Command | ((blob: AddBlob) => Command), outs: readonly number[], op?: string): void {
    this.host.connection.send({ issuer: this.issuer, outs, ...(op !== undefined ? { op } : {}) }, command);
  }

  private ask<T>(command: Command, outs: readonly number[] = []): Promise<T> {
    return this.host.connection.ask<T>({ issuer: this.issuer, outs }, command);
  }

  /** A handle that goes into a command must be alive, of this runtime, and not failed. */
  private use(handle: Handle, op: string): void {
    const remote = asRemote(handle);
    if (remote.connection !== this.host.connection) {
      throw this.named(invalid(`${op}: a handle of '${handle.label}' belongs to another runtime`), op);
    }
    remote.checkLive(op);
    this.host.connection.checkFailed(handle.id, this.issuer);
  }

  private checkOpen(op: string): void {
    const { ended } = this.host.connection;
    if (ended) throw ended;
    if (this.closed) {
      throw new RuntimeError('handle_freed', `${op}: the scope '${this.label}' was closed`, { op, label: this.label });
    }
  }

  private checkRunning(op: string): void {
    this.checkOpen(op);
    if (this.options.signal?.aborted) {
      throw new RuntimeError('cancelled', `${op}: '${this.label}' was cancelled`, { op, label: this.label });
    }
  }

  private checkPrecision(precision: Precision): void {
    const { precisions } = this.host;
    if (!precisions.has(precision)) {
      throw unsupported(
        `precision ${precision} is not available on this runtime; available: ${[...precisions].join(', ')}`,
      );
    }
  }

  private checkDevice(device: Device | undefined): void {
    if (device !== undefined && device !== this.host.device) {
      throw unsupported(`device ${device} is not served by this runtime: it runs on ${this.host.device}`);
    }
  }

  private labelled<T>(op: string, body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw error instanceof RuntimeError ? this.named(error, op) : error;
    }
  }

  private named(error: RuntimeError, fallback: string): RuntimeError {
    const op = error.op ?? fallback;
    const message = error.message.startsWith(op) ? error.message : `${op}: ${error.message}`;
    return new RuntimeError(error.code, message, { op, label: this.label });
  }

  private generatorId(given: GeneratorRef | undefined, op: string): number {
    if (given) {
      this.use(given, op);
      return given.id;
    }
    this.defaultGenerator ??= this.newGenerator(this.options.seed ?? this.host.randomSeed());
    return this.defaultGenerator.id;
  }

  private newGenerator(seed: number): GeneratorHandle {
    if (!Number.isSafeInteger(seed))
      throw this.named(invalid(`a seed must be a whole number, got ${seed}`), 'generator');
    const { connection } = this.host;
    const generator = this.owned.own(new GeneratorHandle(connection, connection.allocate(), this.label, seed));
    this.send(['gen', generator.id, seed], [generator.id]);
    return generator;
  }

  private tensor({ shape, dtype }: TensorMeta): TensorHandle {
    const { connection, device } = this.host;
    return this.owned.own(new TensorHandle(connection, connection.allocate(), this.label, shape, dtype, device));
  }

  private newState(entries: readonly ParamMeta[]): StateHandle {
    const { connection } = this.host;
    return this.owned.own(new StateHandle(connection, connection.allocate(), this.label, entries));
  }

  private newOptimizer(module: ModuleRef, spec: OptimizerSpec): OptimizerHandle {
    const { connection } = this.host;
    return this.owned.own(new OptimizerHandle(connection, connection.allocate(), this.label, spec, module));
  }
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T, name: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
