import type { IncomingMessage } from 'node:http';
import { CodedError, WORKER_CLOSE } from '@cdui/protocol';
import { type RawData, WebSocket } from 'ws';
import type { Connection, ConnectionEvents, Dialer } from '../core/world';
import type { Place } from './control-plane';

/** More is not given to a socket that has so much unsent; less than the other and it is given again. */
const HIGH_BYTES = 1024 * 1024;
const LOW_BYTES = 256 * 1024;
const HANDSHAKE_MS = 10_000;
/** How long the other end gets to answer a close before the connection is cut. */
const CLOSE_MS = 1_000;
const MAX_REFUSAL_BYTES = 4_096;

export interface DialerOptions {
  /** Looked up before every dial. */
  readonly place: () => Promise<Place>;
  /** A larger message closes the connection. */
  readonly maxMessageBytes: number;
}

/** Dials the control plane over WebSocket. */
export class WebSocketDialer implements Dialer {
  constructor(private readonly options: DialerOptions) {}

  dial(events: ConnectionEvents): void {
    void this.open(events).catch((error: unknown) => events.ended({ code: null, reason: wordsOf(error) }));
  }

  private async open(events: ConnectionEvents): Promise<void> {
    const { url, token } = await this.options.place();
    const socket = new WebSocket(url, {
      headers: { 'X-CodefyUI-Token': token },
      // It would cost more than this machine's own network, and memory for each socket.
      perMessageDeflate: false,
      maxPayload: this.options.maxMessageBytes,
      handshakeTimeout: HANDSHAKE_MS,
    });
    new SocketConnection(socket, url, events);
  }
}

class SocketConnection implements Connection {
  private opened = false;
  private congested = false;
  /** Why it ends, when that is known before it does. */
  private reason: string | null = null;

  constructor(
    private readonly socket: WebSocket,
    private readonly url: string,
    private readonly events: ConnectionEvents,
  ) {
    socket.on('upgrade', (response) => response.socket.on('data', () => events.heard()));
    socket.on('open', () => {
      this.opened = true;
      events.opened(this);
    });
    socket.on('message', (data, isBinary) => this.message(data, isBinary));
    socket.on('pong', (data) => events.ponged(Number(data.toString())));
    socket.on('unexpected-response', (_request, response) => this.refused(response));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.reason ??= this.opened ? error.message : `${url} cannot be reached: ${wordsOf(error)}`;
    });
    socket.on('close', (code, text) => {
      const why = this.reason ?? `the connection was closed (${code}${text.length > 0 ? `: ${text.toString()}` : ''})`;
      events.ended({ code: this.opened ? code : null, reason: why });
    });
  }

  send(message: string | Uint8Array): boolean {
    if (this.socket.readyState !== WebSocket.OPEN) return true;
    this.socket.send(message, { binary: false }, () => this.sent());
    this.congested ||= this.socket.bufferedAmount > HIGH_BYTES;
    return !this.congested;
  }

  ping(ping: number): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.ping(String(ping));
  }

  close(code: number, reason: string): void {
    this.socket.close(code, reason);
    const timer = setTimeout(() => this.socket.terminate(), CLOSE_MS);
    this.socket.once('close', () => clearTimeout(timer));
  }

  private sent(): void {
    if (!this.congested || this.socket.bufferedAmount > LOW_BYTES) return;
    this.congested = false;
    this.events.drained();
  }

  private message(data: RawData, isBinary: boolean): void {
    // Nobody who speaks this protocol sends bytes.
    if (isBinary) return this.close(WORKER_CLOSE.protocol, 'A message must be text');
    this.events.message((data as Buffer).toString());
  }

  /** The answer to the upgrade was another one: its body says why. */
  private refused(response: IncomingMessage): void {
    let body = '';
    response.on('data', (chunk: Buffer) => {
      if (body.length < MAX_REFUSAL_BYTES) body += chunk.toString();
    });
    const done = (): void => {
      this.reason ??= `${this.url} refuses the connection with ${response.statusCode}${detailOf(body)}`;
      this.socket.terminate();
    };
    response.on('end', done).on('error', done);
  }
}

function detailOf(body: string): string {
  try {
    const { detail } = JSON.parse(body) as { readonly detail?: unknown };
    return typeof detail === 'string' ? `: ${detail}` : '';
  } catch {
    return '';
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof CodedError) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' ? 'nobody listens there' : message;
}
