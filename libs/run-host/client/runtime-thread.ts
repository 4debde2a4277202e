import { availableParallelism } from 'node:os';
import { MessageChannel, SHARE_ENV, Worker } from 'node:worker_threads';
import { entryPath } from '@cdui/host/entry';
import type { ToWorker, WorkerData } from '@cdui/tensor/onnx/worker-protocol';
import type { RunHostThreadData } from './thread-data';

/** The embedded runtime's thread, below the root. */
const RUNTIME_ENTRY = 'libs/tensor/onnx/worker';

/**
 * The embedded runtime's thread, started by the main thread as a sibling of the run host's: ending a thread ends the threads that it
 * started, and one that computes must never be ended, because the whole process would abort.
 */
export class RuntimeThread {
  private readonly worker: Worker;
  private readonly exited: Promise<void>;

  constructor(private readonly threads: number = availableParallelism()) {
    const workerData: WorkerData = { options: { threads } };
    this.worker = new Worker(entryPath(RUNTIME_ENTRY), { workerData, env: SHARE_ENV });
    // A runtime that fails is noticed at the other end of its port; here it must only not end the process.
    this.worker.on('error', () => undefined);
    this.exited = new Promise((resolve) => this.worker.once('exit', () => resolve()));
  }

  /** A connection for another thread. */
  connect(): RunHostThreadData['runtime'] {
    const { port1, port2 } = new MessageChannel();
    const flag = new SharedArrayBuffer(4);
    const check = !!process.env['CODEFYUI_DEBUG'];
    const message: ToWorker = { connect: port2, options: { threads: this.threads, ...(check && { check }) }, flag };
    this.worker.postMessage(message, [port2]);
    return { port: port1, flag };
  }

  /** Lets the step that runs finish, however long it takes, then ends the thread. */
  async close(): Promise<void> {
    const message: ToWorker = { end: true };
    this.worker.postMessage(message);
    await this.exited;
  }
}
