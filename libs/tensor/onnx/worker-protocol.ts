import type { MessagePort } from 'node:worker_threads';
import type { ClientFrame, Hello, ServerFrame } from '../runtime/wire';

/** The runtime's thread, below the root. */
export const ENTRY = 'libs/tensor/onnx/worker';

export interface WorkerOptions {
  /** Threads of a training or inference run. */
  readonly threads: number;
  /** Compare every result with shape inference. */
  readonly check?: boolean;
}

/** What the thread is started with. Without `flag` it serves only the ports that it is handed. */
export interface WorkerData {
  readonly options: WorkerOptions;
  readonly flag?: SharedArrayBuffer;
}

export type ToWorker =
  | { readonly frame: ClientFrame }
  | { readonly end: true }
  | { readonly connect: MessagePort; readonly options: WorkerOptions; readonly flag: SharedArrayBuffer };

export type FromWorker = { readonly hello: Hello } | { readonly frame: ServerFrame };

const IDLE = 0;
const BUSY = 1;
const STOPPED = 2;

/**
 * Whether a server computes, in memory that both sides see. The other side may stop it only while it does not: ending a thread in the middle
 * of a run would end the process.
 */
export class StateFlag {
  private readonly state: Int32Array;

  constructor(readonly buffer = new SharedArrayBuffer(4)) {
    this.state = new Int32Array(buffer);
  }

  /** The server begins a command; false when it was stopped and must not. */
  enter(): boolean {
    return Atomics.compareExchange(this.state, 0, IDLE, BUSY) !== STOPPED;
  }

  leave(): void {
    Atomics.compareExchange(this.state, 0, BUSY, IDLE);
  }

  /** Stops a server that does not compute; false when it does. */
  stop(): boolean {
    return Atomics.compareExchange(this.state, 0, IDLE, STOPPED) !== BUSY;
  }
}
