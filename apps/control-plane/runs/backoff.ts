import type { Clock } from '@cdui/execution';

/** Storage that failed is asked again after this long, each time twice as long. In milliseconds. */
const FIRST_MS = 250;
const LONGEST_MS = 5_000;

/** Pauses between tries, longer each time. */
export class Backoff {
  private next = FIRST_MS;

  constructor(private readonly clock: Clock) {}

  /** How long the next pause is. */
  take(): number {
    const pause = this.next;
    this.next = Math.min(2 * pause, LONGEST_MS);
    return pause;
  }

  pause(): Promise<void> {
    return new Promise((resolve) => this.clock.after(this.take(), resolve));
  }

  reset(): void {
    this.next = FIRST_MS;
  }
}
