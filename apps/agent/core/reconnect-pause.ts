import type { Random } from '@cdui/protocol';

/** The first pause is up to this long; each further one up to twice as long as the one before. In milliseconds. */
const FIRST_MS = 500;
const LONGEST_MS = 10_000;

/** How long to wait before the next try to connect. Chance spreads the agents of a server that was restarted over the whole time. */
export class ReconnectPause {
  private limit = FIRST_MS;

  constructor(private readonly random: Random) {}

  next(): number {
    const pause = this.random() * this.limit;
    this.limit = Math.min(2 * this.limit, LONGEST_MS);
    return pause;
  }

  reset(): void {
    this.limit = FIRST_MS;
  }

  /** Nothing is gained by trying again soon. */
  atLength(): void {
    this.limit = LONGEST_MS;
  }
}
