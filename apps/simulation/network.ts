import type { Connection, ConnectionEvents } from '../agent/core/world';
import type { TransportListener, WorkerTransport } from '../control-plane/workers/transport';

type Item =
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'ping' | 'pong'; readonly ping: number }
  | { readonly kind: 'close'; readonly code: number };

const decoder = new TextDecoder();
/** An agent is told to wait when so many messages are on their way. */
const HIGH_WATER = 64;

/** A line between an agent and a server: what is sent lies there in order until it is delivered, or is lost with the line. */
export class SimLine {
  readonly toServer: Item[] = [];
  readonly toAgent: Item[] = [];
  /** Messages as the server sent them, and what happened to it then. */
  onServerSend: (text: string) => void = () => undefined;
  private listener: TransportListener | null = null;
  private paused = false;
  private cut = false;
  private readonly ended = { server: false, agent: false };
  private agentWaits = false;

  constructor(private readonly events: ConnectionEvents) {}

  /** The end that the server holds. */
  get transport(): WorkerTransport {
    return {
      address: 'sim',
      send: (text) => {
        if (this.ended.server) return;
        this.onServerSend(text);
        this.push(this.toAgent, { kind: 'message', text });
      },
      ping: () => this.push(this.toAgent, { kind: 'ping', ping: 0 }),
      pause: () => void (this.paused = true),
      resume: () => void (this.paused = false),
      close: (code) => this.push(this.toAgent, { kind: 'close', code }),
      listen: (listener) => void (this.listener = listener),
    };
  }

  /** The end that the agent holds. */
  get connection(): Connection {
    return {
      send: (message) => {
        this.push(this.toServer, {
          kind: 'message',
          text: typeof message === 'string' ? message : decoder.decode(message),
        });
        this.agentWaits = this.toServer.length >= HIGH_WATER;
        return !this.agentWaits;
      },
      ping: (ping) => this.push(this.toServer, { kind: 'ping', ping }),
      close: (code) => this.push(this.toServer, { kind: 'close', code }),
    };
  }

  /** Whether neither end holds it any more. */
  get isOver(): boolean {
    return this.ended.server && this.ended.agent;
  }

  /** Whether both ends take it to be whole. */
  get isWhole(): boolean {
    return !this.cut && !this.ended.server && !this.ended.agent;
  }

  get pendingToServer(): number {
    return this.ended.server || this.paused ? 0 : this.toServer.length;
  }

  get pendingToAgent(): number {
    return this.ended.agent ? 0 : this.toAgent.length;
  }

  open(): void {
    this.events.opened(this.connection);
  }

  deliverToServer(): void {
    if (this.pendingToServer === 0) return;
    const item = this.toServer.shift()!;
    const { listener } = this;
    switch (item.kind) {
      case 'message':
        listener?.onMessage(item.text, item.text.length);
        break;
      case 'ping':
        listener?.onAlive();
        this.push(this.toAgent, { kind: 'pong', ping: item.ping });
        break;
      case 'pong':
        listener?.onAlive();
        break;
      case 'close':
        this.endServer(item.code);
    }
    if (this.agentWaits && this.toServer.length < HIGH_WATER / 2) {
      this.agentWaits = false;
      if (!this.ended.agent) this.events.drained();
    }
  }

  deliverToAgent(): void {
    if (this.pendingToAgent === 0) return;
    const item = this.toAgent.shift()!;
    if (item.kind !== 'close') this.events.heard();
    switch (item.kind) {
      case 'message':
        return this.events.message(item.text);
      case 'ping':
        return this.push(this.toServer, { kind: 'pong', ping: item.ping });
      case 'pong':
        return this.events.ponged(item.ping);
      case 'close':
        this.endAgent(item.code);
    }
  }

  /** Loses what is on its way behind the first few messages. Each end hears of it later, or, when `silent`, not at all. */
  break(
    keepToServer: number,
    keepToAgent: number,
    silent: { readonly server: boolean; readonly agent: boolean },
  ): void {
    if (this.cut) return;
    this.cut = true;
    this.toServer.length = Math.min(this.toServer.length, keepToServer);
    this.toAgent.length = Math.min(this.toAgent.length, keepToAgent);
    if (!silent.server) this.toServer.push({ kind: 'close', code: 1006 });
    if (!silent.agent) this.toAgent.push({ kind: 'close', code: 1006 });
  }

  /** The server's program is gone. */
  serverDied(silent: boolean): void {
    this.ended.server = true;
    this.listener = null;
    this.break(0, this.toAgent.length, { server: true, agent: silent });
  }

  agentDied(silent: boolean): void {
    this.ended.agent = true;
    this.break(this.toServer.length, 0, { server: silent, agent: true });
  }

  /** The agent gave the line up by itself: it hears nothing more. */
  private endAgent(code: number): void {
    this.ended.agent = true;
    // The operating system answers a close.
    this.push(this.toServer, { kind: 'close', code });
    this.events.ended({ code, reason: `closed (${code})` });
  }

  private endServer(code: number): void {
    this.ended.server = true;
    this.push(this.toAgent, { kind: 'close', code });
    this.listener?.onClosed(code);
  }

  private push(queue: Item[], item: Item): void {
    const dead = queue === this.toServer ? this.ended.server : this.ended.agent;
    if (!this.cut && !dead) queue.push(item);
  }
}
