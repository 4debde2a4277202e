import { RuntimeError } from '../errors';
import type { Connection } from './connection';

/** Queued steps should take about this long: more adds stop latency and gains nothing. */
const TARGET_MS = 50;
const LEAST = 2;
const MOST = 32;
/** Weight of the newest measurement. */
const SMOOTHING = 0.3;

/** Bounds the unacknowledged steps of a trainer or evaluator; adjusts itself to the time a step takes unless the size is given. */
export class StepWindow {
  private readonly open: number[] = [];
  private stepMs: number | null = null;
  private lastAck = 0;
  private readonly stop: () => void;
  private turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly connection: Connection,
    private readonly now: () => number,
    private readonly fixed: number | undefined,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.stop = connection.onAck((acked) => this.acknowledged(acked));
  }

  /** How many steps may be unacknowledged. */
  get size(): number {
    if (this.fixed !== undefined) return this.fixed;
    if (this.stepMs === null) return LEAST;
    return Math.min(MOST, Math.max(LEAST, Math.floor(TARGET_MS / this.stepMs)));
  }

  /**
   * Runs `issue`, which returns the step's sequence number, when there is room; callers take their turns in order.
   * Rejects with `cancelled` when the signal aborts, now or while waiting.
   */
  enter(issue: () => number): Promise<void> {
    const entered = this.turn.then(async () => {
      await this.room();
      this.add(issue());
    });
    this.turn = entered.catch(() => undefined);
    return entered;
  }

  private async room(): Promise<void> {
    this.checkSignal();
    while (this.open.length >= this.size) {
      await this.orAborted(this.connection.whenDone(this.open[this.open.length - this.size]!));
      this.checkSignal();
    }
  }

  private add(seq: number): void {
    if (this.open.length === 0) this.lastAck = this.now();
    this.open.push(seq);
  }

  close(): void {
    this.stop();
  }

  private checkSignal(): void {
    if (this.signal?.aborted) throw new RuntimeError('cancelled', 'the step was cancelled before it was accepted');
  }

  private async orAborted(done: Promise<void>): Promise<void> {
    const { signal } = this;
    if (!signal) return done;
    let abort: () => void = () => undefined;
    const aborted = new Promise<void>((resolve) => (abort = resolve));
    signal.addEventListener('abort', abort, { once: true });
    try {
      await Promise.race([done, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
      // The loser may still reject when the runtime dies.
      done.catch(() => undefined);
    }
  }

  private acknowledged(acked: number): void {
    let steps = 0;
    while (this.open.length && this.open[0]! <= acked) {
      this.open.shift();
      steps++;
    }
    if (steps === 0) return;
    const now = this.now();
    const each = (now - this.lastAck) / steps;
    this.lastAck = now;
    this.stepMs = this.stepMs === null ? each : this.stepMs + SMOOTHING * (each - this.stepMs);
  }
}
