import { RuntimeError } from '../errors';
import { invalid, unsupported } from '../fields';
import type { GeneratorRef, Handle, ModuleRef, ParamMeta } from '../handles';
import type { TensorRuntime } from '../runtime';
import type { Device } from '../values';
import type { ModuleSpec, OptimizerSpec, Precision, TensorMeta } from '../vocabulary';
import type { Command } from '../wire';
import { Issuer, type AddBlob, type Connection } from './connection';
import { asRemote, Ownership } from './ownership';
import { GeneratorHandle, ModuleHandle, OptimizerHandle, RemoteHandle, StateHandle, TensorHandle } from './refs';

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

/** What every command of a scope goes through: the checks before it, the handles it makes, the name its errors carry. */
export class ScopeCore {
  readonly label: string;
  readonly issuer: Issuer;
  readonly owned = new Ownership();
  /** Trainers and evaluators that end with the scope. */
  readonly jobs = new Set<{ close(): void }>();
  private defaultGenerator: GeneratorHandle | null = null;
  private ended = false;

  constructor(
    readonly host: ScopeHost,
    readonly options: ScopeOptions,
  ) {
    this.label = options.label;
    this.issuer = new Issuer(options.label);
  }

  get closed(): boolean {
    return this.ended;
  }

  close(): void {
    if (this.ended) return;
    this.ended = true;
    for (const job of this.jobs) job.close();
    this.jobs.clear();
    this.owned.close();
    this.defaultGenerator = null;
  }

  send(command: Command | ((blob: AddBlob) => Command), outs: readonly number[], op?: string): void {
    this.host.connection.send({ issuer: this.issuer, outs, ...(op !== undefined ? { op } : {}) }, command);
  }

  ask<T>(command: Command, outs: readonly number[] = []): Promise<T> {
    return this.host.connection.ask<T>({ issuer: this.issuer, outs }, command);
  }

  /** A handle that goes into a command must be alive, of this runtime, and not failed. */
  use(handle: Handle, op: string): void {
    const remote = asRemote(handle);
    if (remote.connection !== this.host.connection) {
      throw this.named(invalid(`${op}: a handle of '${handle.label}' belongs to another runtime`), op);
    }
    remote.checkLive(op);
    this.host.connection.checkFailed(handle.id, this.issuer);
  }

  checkOpen(op: string): void {
    const { ended } = this.host.connection;
    if (ended) throw ended;
    if (this.ended) {
      throw new RuntimeError('handle_freed', `${op}: the scope '${this.label}' was closed`, { op, label: this.label });
    }
  }

  checkRunning(op: string): void {
    this.checkOpen(op);
    if (this.options.signal?.aborted) {
      throw new RuntimeError('cancelled', `${op}: '${this.label}' was cancelled`, { op, label: this.label });
    }
  }

  checkPrecision(precision: Precision): void {
    const { precisions } = this.host;
    if (!precisions.has(precision)) {
      throw unsupported(
        `precision ${precision} is not available on this runtime; available: ${[...precisions].join(', ')}`,
      );
    }
  }

  checkDevice(device: Device | undefined): void {
    if (device !== undefined && device !== this.host.device) {
      throw unsupported(`device ${device} is not served by this runtime: it runs on ${this.host.device}`);
    }
  }

  labelled<T>(op: string, body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw error instanceof RuntimeError ? this.named(error, op) : error;
    }
  }

  named(error: RuntimeError, fallback: string): RuntimeError {
    const op = error.op ?? fallback;
    const message = error.message.startsWith(op) ? error.message : `${op}: ${error.message}`;
    return new RuntimeError(error.code, message, { op, label: this.label });
  }

  /** The generator that a random command draws from: the one given, else the scope's own. */
  generatorId(given: GeneratorRef | undefined, op: string): number {
    if (given) {
      this.use(given, op);
      return given.id;
    }
    this.defaultGenerator ??= this.newGenerator(this.options.seed ?? this.host.randomSeed());
    return this.defaultGenerator.id;
  }

  newGenerator(seed: number): GeneratorHandle {
    if (!Number.isSafeInteger(seed))
      throw this.named(invalid(`a seed must be a whole number, got ${seed}`), 'generator');
    const { connection } = this.host;
    const generator = this.owned.own(new GeneratorHandle(connection, connection.allocate(), this.label, seed));
    this.send(['gen', generator.id, seed], [generator.id]);
    return generator;
  }

  newTensor({ shape, dtype }: TensorMeta): TensorHandle {
    const { connection, device } = this.host;
    return this.owned.own(new TensorHandle(connection, connection.allocate(), this.label, shape, dtype, device));
  }

  newModule(spec: ModuleSpec, parameters: readonly ParamMeta[]): ModuleHandle {
    const { connection, device } = this.host;
    return this.owned.own(new ModuleHandle(connection, connection.allocate(), this.label, spec, parameters, device));
  }

  newState(entries: readonly ParamMeta[]): StateHandle {
    const { connection } = this.host;
    return this.owned.own(new StateHandle(connection, connection.allocate(), this.label, entries));
  }

  newOptimizer(module: ModuleRef, spec: OptimizerSpec): OptimizerHandle {
    const { connection } = this.host;
    return this.owned.own(new OptimizerHandle(connection, connection.allocate(), this.label, spec, module));
  }

  /** A handle whose owner closes it: a trainer or an evaluator. */
  newJob(): RemoteHandle {
    const { connection } = this.host;
    return new RemoteHandle(connection, connection.allocate(), this.label);
  }
}

export function mapValues<T, U>(
  record: Readonly<Record<string, T>>,
  map: (value: T, name: string) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
