import { spawn, type ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { entryPath } from '@cdui/host/entry';
import type { ClientFrame, Hello, ServerFrame, Transport } from '../runtime/wire';
import { readMessages, writeMessage } from './pipe-frames';

/**
 * The embedded runtime behind a child process's pipe, every call serialised. It is for tests: what passes here assumes no shared memory
 * and no shared process, as a host in another language needs it.
 */
export class PipeTransport implements Transport {
  readonly hello: Promise<Hello>;
  onFrame: Transport['onFrame'] = () => undefined;
  onDown: Transport['onDown'] = () => undefined;
  private readonly child: ChildProcess;
  private readonly pipe: Duplex;
  private readonly exited: Promise<void>;
  private closing = false;

  constructor(options: { readonly threads: number; readonly check: boolean }) {
    const args = [entryPath('libs/tensor/testing/pipe-child'), String(options.threads), options.check ? 'check' : ''];
    this.child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
    this.pipe = this.child.stdio[3] as Duplex;
    this.pipe.on('error', () => undefined);
    this.exited = new Promise((resolve) => {
      this.child.once('exit', (exitCode, signal) => {
        resolve();
        if (this.closing) return;
        const how = signal ? `by ${signal}` : `with exit code ${exitCode}`;
        this.onDown({
          code: 'host_exited',
          message: `the runtime's process ended ${how}`,
          ...(signal ? { signal } : {}),
          ...(exitCode !== null ? { exitCode } : {}),
        });
      });
    });
    this.hello = new Promise((resolve) => {
      readMessages(this.pipe, (message) => {
        const { hello, frame } = message as { hello?: Hello; frame?: ServerFrame };
        if (hello) resolve(hello);
        else if (frame) this.onFrame(frame);
      });
    });
  }

  send(frame: ClientFrame): void {
    writeMessage(this.pipe, { frame });
    // A thread's transport takes buffers over; here too whoever still uses one must notice.
    for (const blob of frame.blobs) structuredClone(null, { transfer: [blob.buffer as ArrayBuffer] });
  }

  async close({ force }: { force: boolean }): Promise<void> {
    this.closing = true;
    if (force) this.child.kill('SIGKILL');
    else writeMessage(this.pipe, { end: true });
    await this.exited;
  }
}
