import type { AgentFrame, ServerFrame, WelcomeFrame } from '@cdui/protocol';
import {
  checkServerFrame,
  CodedError,
  HELLO_TIMEOUT_MS,
  MISSED_HEARTBEATS,
  readMessage,
  WORKER_CLOSE,
} from '@cdui/protocol';
import { Liveness } from './liveness';
import type { Feed } from './run';
import type { AgentClock, Connection, ConnectionEnd, ConnectionEvents } from './world';

/** What a connection tells the agent. */
export interface LinkOwner {
  opened(link: Link): void;
  /** The answer to a `hello`. Frames are handed on only after the first. */
  welcomed(link: Link, welcome: WelcomeFrame): void;
  frame(link: Link, frame: Exclude<ServerFrame, WelcomeFrame>): void;
  /** A heartbeat is due. */
  beat(link: Link): void;
  /** More may be sent. */
  flowing(link: Link): void;
  /** Runs may start again: the process was late, and an answer has come since. */
  caughtUp(link: Link): void;
  ended(link: Link, end: ConnectionEnd): void;
}

/** How often in a heartbeat's time the process looks whether it is late. */
const LOOKS = 4;

/** One connection to the control plane, from the dial to its end. */
export class Link implements ConnectionEvents, Feed {
  flowing = true;
  /** Of this connection's last `welcome`, in milliseconds; null before. */
  heartbeatMs: number | null = null;
  private connection: Connection | null = null;
  private liveness: Liveness | null = null;
  private over = false;
  private looks = 0;
  private stopTimer = (): void => undefined;

  constructor(
    private readonly clock: AgentClock,
    private readonly owner: LinkOwner,
  ) {}

  opened(connection: Connection): void {
    if (this.over) return connection.close(1000, 'too late');
    this.connection = connection;
    const wait = (): void => this.giveUp(WORKER_CLOSE.silent, `no welcome came within ${HELLO_TIMEOUT_MS / 1000} s`);
    this.stopTimer = this.clock.after(HELLO_TIMEOUT_MS, wait);
    this.owner.opened(this);
  }

  message(text: string): void {
    try {
      for (const value of readMessage(text)) {
        const frame = this.over ? null : checkServerFrame(value);
        if (frame !== null) this.take(frame);
      }
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      this.giveUp(WORKER_CLOSE.protocol, error.message);
    }
  }

  heard(): void {
    this.liveness?.heard();
  }

  ponged(ping: number): void {
    if (this.liveness?.answer(ping) && !this.over) this.owner.caughtUp(this);
  }

  drained(): void {
    this.flowing = true;
    if (!this.over) this.owner.flowing(this);
  }

  ended(end: ConnectionEnd): void {
    if (this.over) return;
    this.over = true;
    this.stopTimer();
    this.owner.ended(this, end);
  }

  /** Sends what must not wait, whether more may be sent or not. */
  say(frame: AgentFrame): void {
    this.send(JSON.stringify(frame));
  }

  send(message: string | Uint8Array): void {
    if (!this.over && this.connection && !this.connection.send(message)) this.flowing = false;
  }

  /** Whether a run may start now. */
  get startsRuns(): boolean {
    return !this.over && this.liveness !== null && this.liveness.mayStart();
  }

  close(code: number, reason: string): void {
    this.connection?.close(code, reason.slice(0, 100));
  }

  private take(frame: ServerFrame): void {
    if (frame.type === 'welcome') {
      if (this.heartbeatMs === null) this.begin(frame.heartbeat_s * 1000);
      this.owner.welcomed(this, frame);
    } else if (this.heartbeatMs !== null || frame.type === 'reject') this.owner.frame(this, frame);
  }

  private begin(heartbeatMs: number): void {
    this.heartbeatMs = heartbeatMs;
    this.stopTimer();
    const everyMs = heartbeatMs / LOOKS;
    this.liveness = new Liveness(this.clock, everyMs, heartbeatMs, (ping) => this.connection?.ping(ping));
    const look = (): void => {
      this.stopTimer = this.clock.after(everyMs, look);
      this.look(heartbeatMs);
    };
    this.stopTimer = this.clock.after(everyMs, look);
  }

  private look(heartbeatMs: number): void {
    const { liveness } = this;
    if (liveness === null) return;
    liveness.look();
    if (liveness.silentMs >= MISSED_HEARTBEATS * heartbeatMs) {
      return this.giveUp(
        WORKER_CLOSE.silent,
        `nothing came for ${MISSED_HEARTBEATS} heartbeats of ${heartbeatMs / 1000} s`,
      );
    }
    this.looks += 1;
    if (this.looks % LOOKS !== 0) return;
    liveness.ask();
    this.owner.beat(this);
  }

  /** The other end may not even notice: this side does not wait for it. */
  private giveUp(code: number, reason: string): void {
    this.close(code, reason);
    this.ended({ code, reason });
  }
}
