import { Worker } from 'node:worker_threads';
import { entryPath } from '@cdui/host/entry';
import type { RunHostAnswer, RunHostCommand, RunHostMessage, StopReason } from '@cdui/protocol';
import { RuntimeThread } from './runtime-thread';
import { StopWord } from './stop-word';
import type { RunHostThreadData } from './thread-data';
import { RUN_HOST_ENTRY } from './thread-data';

/** Why a host's thread is gone though nobody closed it. Texts of the far side stay there: they may hold secrets. */
export interface HostLoss {
  readonly code: 'run_out_of_memory' | 'run_host_failed' | 'run_host_exited';
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export interface HostThreadOptions {
  readonly session: boolean;
  readonly customNodes: string | null;
  /** Folder of installed presets, where it is known ahead of the first run. */
  readonly presets?: string | null;
  /** Threads of the runtime's training steps; default: as many as the machine has. */
  readonly threads?: number;
  /** Most MiB of JavaScript values that node code may hold; default: what V8 grants. */
  readonly heapMb?: number;
}

/** A command that is answered, before it has a number. */
export type Question = Unnumbered<Extract<RunHostCommand, { readonly request_id: number }>>;
type Unnumbered<T> = T extends unknown ? Omit<T, 'request_id'> : never;

/** A run host's thread and the runtime's beside it. */
export class HostThread {
  onMessage: (message: RunHostMessage) => void = () => undefined;
  onLost: (loss: HostLoss) => void = () => undefined;
  private readonly runtime: RuntimeThread;
  private readonly worker: Worker;
  private readonly stop = new StopWord();
  private readonly exited: Promise<void>;
  private failure: HostLoss | null = null;
  private gone: HostLoss | null = null;
  private closing: Promise<void> | null = null;
  private lastRequest = 0;
  private readonly requests = new Map<number, (answer: RunHostAnswer | null) => void>();

  constructor(options: HostThreadOptions) {
    this.runtime = new RuntimeThread(options.threads);
    const runtime = this.runtime.connect();
    const workerData: RunHostThreadData = {
      runtime,
      stop: this.stop.buffer,
      session: options.session,
      customNodes: options.customNodes,
      presets: options.presets ?? null,
    };
    this.worker = new Worker(entryPath(RUN_HOST_ENTRY), {
      workerData,
      transferList: [runtime.port],
      ...(options.heapMb !== undefined && { resourceLimits: { maxOldGenerationSizeMb: options.heapMb } }),
    });
    this.worker.on('message', (message: RunHostMessage | RunHostAnswer) => {
      if ('request_id' in message) this.requests.get(message.request_id)?.(message);
      else this.onMessage(message);
    });
    this.worker.on('error', (error: Error & { readonly code?: string }) => {
      this.failure = lossOf(error);
    });
    this.exited = new Promise((resolve) => {
      this.worker.once('exit', (exitCode) => {
        this.gone = this.failure ?? exitLoss(exitCode);
        for (const answer of this.requests.values()) answer(null);
        resolve();
        if (this.closing === null) this.onLost(this.gone);
      });
    });
  }

  /** Why its thread is gone; null while it lives. */
  get loss(): HostLoss | null {
    return this.gone;
  }

  send(command: RunHostCommand): void {
    if (command.type === 'start') this.stop.clear();
    this.worker.postMessage(command);
  }

  /**
   * Asks the host something that is no part of a run. Null when it is gone, or does not answer in time because node code keeps its thread busy: it
   * does what it was asked then, but later.
   */
  ask<T extends RunHostAnswer['type']>(
    request: Question,
    type: T,
    timeoutMs: number,
  ): Promise<Extract<RunHostAnswer, { type: T }> | null> {
    if (this.gone) return Promise.resolve(null);
    this.lastRequest += 1;
    const id = this.lastRequest;
    return new Promise((resolve) => {
      const timer = setTimeout(() => answer(null), timeoutMs);
      const answer = (given: RunHostAnswer | null): void => {
        clearTimeout(timer);
        this.requests.delete(id);
        resolve(given?.type === type ? (given as Extract<RunHostAnswer, { type: T }>) : null);
      };
      this.requests.set(id, answer);
      this.send({ ...request, request_id: id });
    });
  }

  cancel(runId: string, reason: StopReason): void {
    this.stop.set(reason);
    this.worker.postMessage({ type: 'cancel', run_id: runId, reason } satisfies RunHostCommand);
  }

  /** Ends both threads. A host that is not done within the grace is ended wherever it is; the runtime always finishes its step. */
  close(graceMs: number): Promise<void> {
    this.closing ??= this.end(graceMs);
    return this.closing;
  }

  private async end(graceMs: number): Promise<void> {
    if (graceMs > 0) this.send({ type: 'close' });
    const timer = setTimeout(() => void this.worker.terminate(), graceMs);
    await this.exited;
    clearTimeout(timer);
    await this.runtime.close();
  }
}

function lossOf(error: Error & { readonly code?: string }): HostLoss {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    const message =
      'The run’s thread ran out of memory: keep large data in tensors, which lie outside of its heap, or take them in parts';
    return { code: 'run_out_of_memory', params: { memory: 'heap' }, message };
  }
  const params = { error_type: error.name };
  return { code: 'run_host_failed', params, message: `The run’s thread failed (${error.name})` };
}

function exitLoss(exitCode: number): HostLoss {
  const params = { exit_code: exitCode };
  return { code: 'run_host_exited', params, message: `The run’s thread ended itself (exit code ${exitCode})` };
}
