import { SHARE_ENV, Worker, type MessagePort } from 'node:worker_threads';
import { entryPath } from '@cdui/host/entry';
import { RuntimeError } from '../runtime';
import type { ClientFrame, Hello, ServerFrame, Transport } from '../runtime/wire';
import {
  ENTRY,
  StateFlag,
  type FromWorker,
  type ToWorker,
  type WorkerData,
  type WorkerOptions,
} from './worker-protocol';

/** What a worker and a port have in common. */
interface Channel {
  postMessage(message: ToWorker, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: FromWorker) => void): unknown;
}

/** Frames over a channel; how the far side ends is up to the kind of channel. */
abstract class ChannelTransport implements Transport {
  readonly hello: Promise<Hello>;
  onFrame: (frame: ServerFrame) => void = () => undefined;
  onDown: Transport['onDown'] = () => undefined;
  protected closing = false;
  private isDown = false;
  private greeted = false;

  protected constructor(
    private readonly channel: Channel,
    private readonly flag: StateFlag,
  ) {
    this.hello = new Promise((resolve) => {
      channel.on('message', (message) => {
        if ('hello' in message) {
          this.greeted = true;
          resolve(message.hello);
        } else if ('frame' in message) this.onFrame(message.frame);
      });
    });
  }

  send(frame: ClientFrame): void {
    this.channel.postMessage(
      { frame },
      frame.blobs.map((blob) => blob.buffer as ArrayBuffer),
    );
  }

  /**
   * Ends the far side after its queued work. `force` ends it before its next command.
   * @throws RuntimeError `runtime_failed` with `force` while it computes: a thread that is ended then takes the whole process along
   */
  async close({ force }: { force: boolean }): Promise<void> {
    if (force && !this.flag.stop()) {
      throw new RuntimeError(
        'runtime_failed',
        'the embedded runtime is computing and cannot be ended by force: close it without force, or end the process',
      );
    }
    this.closing = true;
    this.channel.postMessage({ end: true });
    await this.ended();
  }

  protected abstract ended(): Promise<void>;

  protected down(message: string, exitCode?: number): void {
    if (this.isDown || this.closing) return;
    this.isDown = true;
    const code = this.greeted ? 'host_exited' : 'start_failed';
    this.onDown({ code, message, ...(exitCode === undefined ? {} : { exitCode }) });
  }
}

/** The thread's heap holds handles and keys; tensors lie outside. A small nursery keeps it from growing by tens of megabytes for nothing. */
const NURSERY_MB = 8;

export function startWorker(workerData: WorkerData): Worker {
  return new Worker(entryPath(ENTRY), {
    workerData,
    env: SHARE_ENV,
    resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
  });
}

/** A runtime in a thread of its own, started and owned by this one. */
export class ThreadTransport extends ChannelTransport {
  private readonly exited: Promise<void>;

  constructor(options: WorkerOptions) {
    const flag = new StateFlag();
    const worker = startWorker({ options, flag: flag.buffer });
    super(worker, flag);
    this.exited = new Promise((resolve) => worker.once('exit', () => resolve()));
    worker.on('error', (error) => this.down(`the runtime's thread failed: ${error.message}`));
    worker.once('exit', (code) => this.down(`the runtime's thread ended (exit code ${code})`, code));
  }

  protected ended(): Promise<void> {
    return this.exited;
  }
}

/** A runtime behind a port: its thread belongs to somebody else, who gave us one end. */
export class PortTransport extends ChannelTransport {
  private readonly closed: Promise<void>;

  constructor(connection: RuntimePort) {
    super(connection.port, new StateFlag(connection.flag));
    const { port } = connection;
    this.closed = new Promise((resolve) => port.once('close', () => resolve()));
    port.once('close', () => this.down("the runtime's thread ended"));
  }

  protected ended(): Promise<void> {
    return this.closed;
  }
}

/** One end of a connection to a runtime's thread. It can be sent to another thread; `port` belongs into the transfer list then. */
export interface RuntimePort {
  readonly port: MessagePort;
  readonly flag: SharedArrayBuffer;
}
