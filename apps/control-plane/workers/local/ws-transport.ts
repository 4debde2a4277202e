import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { TransportListener, WorkerTransport } from '../transport';

/** How long the far side gets to answer a close before the connection is cut. */
const CLOSE_GRACE_MS = 1_000;

/** An agent's connection over a socket of the `ws` library. */
export class WsTransport implements WorkerTransport {
  private cut: NodeJS.Timeout | null = null;

  constructor(
    private readonly socket: WebSocket,
    private readonly carrier: Socket,
  ) {}

  get address(): string {
    return this.carrier.remoteAddress ?? 'unknown';
  }

  send(text: string): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.send(text);
  }

  ping(): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.ping();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(code: number, reason: string): void {
    // What is paused would never read the answer.
    this.socket.resume();
    this.socket.close(code, utf8Prefix(reason));
    this.cut ??= setTimeout(() => this.socket.terminate(), CLOSE_GRACE_MS);
  }

  listen(listener: TransportListener): void {
    const { socket } = this;
    socket.on('message', (data: RawData, isBinary: boolean) => {
      const bytes = data as Buffer;
      if (isBinary) this.close(1003, 'Messages are JSON text, not binary');
      else listener.onMessage(bytes.toString('utf8'), bytes.length);
    });
    socket.on('ping', () => listener.onAlive());
    socket.on('pong', () => listener.onAlive());
    // What broke it is said by its close as well.
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      if (this.cut) clearTimeout(this.cut);
      listener.onClosed(code);
    });
  }
}

const MAX_REASON_BYTES = 123;

/** As much of a text as a close frame holds. */
function utf8Prefix(text: string): string {
  let prefix = text.slice(0, MAX_REASON_BYTES);
  while (Buffer.byteLength(prefix) > MAX_REASON_BYTES) prefix = prefix.slice(0, -1);
  return prefix;
}
