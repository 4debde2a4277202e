import type { TensorRuntime } from '../../runtime';
import { createClient } from '../../runtime/client';
import type { ClientFrame, Hello, ServerFrame, Transport } from '../../runtime/wire';
import { compiler } from '../compiler';
import { createServer, type RuntimeServer } from '../server';

/** A server in this thread; frames are cloned both ways, as between threads. Results are compared with shape inference. */
export class LocalTransport implements Transport {
  readonly hello: Promise<Hello>;
  readonly frames: ServerFrame[] = [];
  onFrame: (frame: ServerFrame) => void = () => undefined;
  onDown: Transport['onDown'] = () => undefined;
  private readonly server: RuntimeServer;

  constructor(threads: number) {
    this.server = createServer({
      compiler,
      threads,
      check: true,
      post: (frame, transfer) => {
        const cloned = structuredClone(frame, { transfer: [...transfer] });
        this.frames.push(cloned);
        queueMicrotask(() => this.onFrame(cloned));
      },
    });
    this.hello = Promise.resolve(this.server.hello);
  }

  send(frame: ClientFrame): void {
    this.server.handle(structuredClone(frame, { transfer: frame.blobs.map((blob) => blob.buffer as ArrayBuffer) }));
  }

  close(): Promise<void> {
    return this.server.end();
  }
}

export async function localRuntime(threads = 1): Promise<{ runtime: TensorRuntime; transport: LocalTransport }> {
  const transport = new LocalTransport(threads);
  return { runtime: await createClient(transport), transport };
}
