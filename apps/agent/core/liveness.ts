import type { AgentClock } from './world';

/**
 * Whether this process kept up with time. One that was frozen, or whose machine slept, may hold assignments that were given to somebody else
 * meanwhile: it starts nothing until a ping that it sent after the delay was answered, because that answer comes behind everything that
 * the control plane had sent before, the end of the connection included.
 *
 * The same goes while an earlier ping is unanswered: then the line may be what is late.
 */
export class Liveness {
  private lastLook: number;
  private lastHeard: number;
  private sent = 0;
  private answered = 0;
  /** The ping that must be answered before anything may start; 0: none. */
  private needed = 0;

  /** @param everyMs how often `look` is called, at least @param lateMs how much later is too late */
  constructor(
    private readonly clock: AgentClock,
    private readonly everyMs: number,
    private readonly lateMs: number,
    private readonly ping: (ping: number) => void,
  ) {
    this.lastLook = clock.boottime();
    this.lastHeard = clock.monotonic();
  }

  /** @returns whether the process was late */
  look(): boolean {
    const now = this.clock.boottime();
    const late = now - this.lastLook > this.everyMs + this.lateMs;
    this.lastLook = now;
    if (!late) return false;
    // What came meanwhile could not be read; the silence is this process's own.
    this.lastHeard = this.clock.monotonic();
    this.needed = this.ask();
    return true;
  }

  /** Whether a run may start now. If not, an answer that `answer` is told of may change it. */
  mayStart(): boolean {
    this.look();
    if (this.needed === 0 && this.answered < this.sent) this.needed = this.ask();
    return this.needed === 0;
  }

  /** Sends one more ping, and returns it. */
  ask(): number {
    this.sent += 1;
    this.ping(this.sent);
    return this.sent;
  }

  /** @returns whether that lets runs start again */
  answer(ping: number): boolean {
    this.answered = Math.max(this.answered, Math.min(ping, this.sent));
    if (this.needed === 0 || this.answered < this.needed) return false;
    this.needed = 0;
    return true;
  }

  heard(): void {
    this.lastHeard = this.clock.monotonic();
  }

  /** Milliseconds without a byte. */
  get silentMs(): number {
    return this.clock.monotonic() - this.lastHeard;
  }
}
