import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { TestServer } from './test-server';

export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

/** How an attempt to open a socket was refused before it was one. */
export interface Refusal {
  readonly status: number;
  readonly json: unknown;
}

/** A client of `/ws/execution` over a real socket, that keeps what came. */
export class SocketClient {
  readonly frames: Frame[] = [];
  readonly closed: Promise<number>;
  private readonly waiting = new Set<() => void>();

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()) as Frame);
      for (const look of [...this.waiting]) look();
    });
    this.closed = new Promise((resolve) => socket.on('close', (code: number) => resolve(code)));
  }

  static async open(server: TestServer, query = `?token=${server.token}`, headers = {}): Promise<SocketClient> {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/ws/execution${query}`, { headers });
    const client = new SocketClient(socket);
    await once(socket, 'open');
    return client;
  }

  static refused(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Refusal> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, { headers });
      socket.on('open', () => reject(new Error('It was let in')));
      socket.on('error', () => undefined);
      socket.on('unexpected-response', (_request, response: IncomingMessage) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status: response.statusCode!, json: JSON.parse(text) as unknown }));
      });
    });
  }

  ask(action: string, members: object = {}): void {
    this.socket.send(JSON.stringify({ action, ...members }));
  }

  /** The first frame from an index on that fits. Waits for it. */
  frame(fits: (frame: Frame) => boolean, from = 0): Promise<Frame> {
    return new Promise((resolve, reject) => {
      let seen = from;
      const done = (): void => {
        this.waiting.delete(look);
        this.socket.off('close', gone);
      };
      const look = (): void => {
        for (; seen < this.frames.length; seen++) {
          if (!fits(this.frames[seen]!)) continue;
          done();
          resolve(this.frames[seen]!);
          return;
        }
      };
      const gone = (code: number): void => {
        done();
        reject(new Error(`The socket was closed with ${code} after ${JSON.stringify(this.frames.slice(-3))}`));
      };
      this.waiting.add(look);
      this.socket.on('close', gone);
      look();
    });
  }

  of(type: string, from = 0): Promise<Frame> {
    return this.frame((frame) => frame.type === type, from);
  }

  /** Frames that are stored events. */
  get events(): readonly Frame[] {
    return this.frames.filter(({ type, cursor }) => typeof cursor === 'number' && type !== 'attached');
  }

  close(): void {
    this.socket.terminate();
  }
}
