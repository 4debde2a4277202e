import { Worker } from 'node:worker_threads';
import { entryPath } from '@cdui/host/entry';
import type { RunHostCommand, RunHostMessage, StopReason } from '@cdui/protocol';
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
  /** Threads of the runtime's training steps; default: as many as the machine has. */
  readonly threads?: number;
}

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

  constructor(options: HostThreadOptions) {
    this.runtime = new RuntimeThread(options.threads);
    const runtime = this.runtime.connect();
    const workerData: RunHostThreadData = {
      runtime,
      stop: this.stop.buffer,
      session: options.session,
      customNodes: options.customNodes,
    };
    this.worker = new Worker(entryPath(RUN_HOST_ENTRY), { workerData, transferList: [runtime.port] });
    this.worker.on('message', (message: RunHostMessage) => this.onMessage(message));
    this.worker.on('error', (error: Error & { readonly code?: string }) => {
      this.failure = lossOf(error);
    });
    this.exited = new Promise((resolve) => {
      this.worker.once('exit', (exitCode) => {
        this.gone = this.failure ?? exitLoss(exitCode);
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
    return { code: 'run_out_of_memory', params: { memory: 'heap' }, message: 'The run’s thread ran out of memory' };
  }
  const params = { error_type: error.name };
  return { code: 'run_host_failed', params, message: `The run’s thread failed (${error.name})` };
}

function exitLoss(exitCode: number): HostLoss {
  const params = { exit_code: exitCode };
  return { code: 'run_host_exited', params, message: `The run’s thread ended itself (exit code ${exitCode})` };
}
