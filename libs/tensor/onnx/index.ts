import { availableParallelism } from 'node:os';
import { MessageChannel, type Worker } from 'node:worker_threads';
import { RuntimeError, type RuntimeFactory, type RuntimeOptions, type TensorRuntime } from '../runtime';
import { createClient } from '../runtime/client';
import { PortTransport, startWorker, ThreadTransport, type RuntimePort } from './transport';
import { StateFlag, type ToWorker, type WorkerOptions } from './worker-protocol';

export { PortTransport, ThreadTransport, type RuntimePort } from './transport';

/**
 * Opens the embedded runtime in a thread of its own, which the caller's thread owns.
 * @throws RuntimeError `unsupported` for another device than `cpu`, `start_failed`
 */
export async function openOnnxRuntime(options: RuntimeOptions): Promise<TensorRuntime> {
  return createClient(new ThreadTransport(workerOptions(options)));
}

/** Opens the embedded runtime at the other end of a port that `OnnxWorker.connect` made. */
export async function connectOnnxRuntime(connection: RuntimePort): Promise<TensorRuntime> {
  return createClient(new PortTransport(connection));
}

/** Opens embedded runtimes. There is nothing to start ahead of need: a thread is ready in some 40 ms. */
export class OnnxRuntimeFactory implements RuntimeFactory {
  private readonly opened = new Set<TensorRuntime>();

  prepare(): void {}

  async open(options: RuntimeOptions): Promise<TensorRuntime> {
    const runtime = await openOnnxRuntime(options);
    this.opened.add(runtime);
    void runtime.gone.then(() => this.opened.delete(runtime));
    return runtime;
  }

  async close(): Promise<void> {
    await Promise.all([...this.opened].map((runtime) => runtime.close()));
  }
}

/**
 * A runtime's thread for clients in other threads: the owner starts it and hands out ports, so that a client's thread may end while a step runs
 * without ending the runtime's in the middle of it.
 */
export class OnnxWorker {
  private readonly worker: Worker;
  private readonly exited: Promise<void>;
  /** Why there is no thread any more. */
  private ended: string | null = null;

  constructor() {
    this.worker = startWorker({ options: { threads: 1 } });
    // Clients learn of it through their ports.
    this.worker.on('error', (error) => (this.ended = `the runtime's thread failed: ${error.message}`));
    this.exited = new Promise((resolve) => {
      this.worker.once('exit', () => {
        this.ended ??= "the runtime's thread has ended";
        resolve();
      });
    });
  }

  /**
   * A new client's end, to be sent to its thread or given to `connectOnnxRuntime`. Each client has handles of its own.
   * @throws RuntimeError `start_failed` when the thread has ended
   */
  connect(options: RuntimeOptions): RuntimePort {
    if (this.ended !== null) throw new RuntimeError('start_failed', `${this.ended}: start another one`);
    const { port1, port2 } = new MessageChannel();
    const flag = new StateFlag();
    const message: ToWorker = { connect: port2, options: workerOptions(options), flag: flag.buffer };
    this.worker.postMessage(message, [port2]);
    return { port: port1, flag: flag.buffer };
  }

  /** Lets queued work finish, then ends the thread. May be called again. */
  async close(): Promise<void> {
    const message: ToWorker = { end: true };
    this.worker.postMessage(message);
    await this.exited;
  }
}

function workerOptions({ device, threads, rank, memoryCapBytes }: RuntimeOptions): WorkerOptions {
  if (device !== 'cpu') {
    throw new RuntimeError('unsupported', `device ${device} is not served by the embedded runtime: it runs on cpu`, {
      device,
    });
  }
  if (rank)
    throw new RuntimeError('unsupported', 'the embedded runtime does not share a training run between processes');
  if (memoryCapBytes !== undefined) {
    throw new RuntimeError(
      'unsupported',
      'the embedded runtime computes in its caller’s process and cannot limit its memory: leave memoryCapBytes out, or limit the process',
    );
  }
  const check = !!process.env['CODEFYUI_DEBUG'];
  return { threads: threads ?? availableParallelism(), ...(check ? { check } : {}) };
}
