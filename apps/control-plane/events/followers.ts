import type { Clock } from '@cdui/execution';

/** How many are woken up in one turn of the event loop, so that a crowd does not hold up the writer. */
const WOKEN_AT_ONCE = 64;
/** A crowd is woken up less often: a millisecond later for every so many followers, and at most this much later. */
const FOLLOWERS_PER_MS = 4;
const LONGEST_PAUSE_MS = 250;

/** Those who wait for more of a run's log. Waking them costs whoever writes the same, however many they are. */
export class Followers {
  private waiting = new Set<() => void>();
  private wokenAt = -Infinity;
  private scheduled = false;
  private lastCrowd = 0;

  constructor(private readonly clock: Clock) {}

  get count(): number {
    return this.waiting.size;
  }

  /** Resolves at the next `wake`, after `ms`, or when the signal is aborted. @returns the promise, and how to end it at once */
  wait(ms: number, signal?: AbortSignal): { readonly over: Promise<void>; readonly end: () => void } {
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => {
      let cancel = (): void => undefined;
      end = () => {
        cancel();
        signal?.removeEventListener('abort', end);
        this.waiting.delete(end);
        resolve();
      };
      cancel = this.clock.after(ms, end);
      signal?.addEventListener('abort', end, { once: true });
      this.waiting.add(end);
      if (signal?.aborted) end();
    });
    return { over, end };
  }

  /** There is something new. */
  wake(): void {
    if (this.scheduled || this.waiting.size === 0) return;
    // Also those count who were woken last time and are still at work: they come back.
    const crowd = Math.max(this.waiting.size, this.lastCrowd);
    const pause = Math.min(LONGEST_PAUSE_MS, Math.floor(crowd / FOLLOWERS_PER_MS));
    const rest = this.wokenAt + pause - this.clock.monotonic();
    if (rest <= 0) return this.wakeAll();
    this.scheduled = true;
    this.clock.after(rest, () => {
      this.scheduled = false;
      this.wakeAll();
    });
  }

  /** There is nothing more to wait for. */
  wakeAll(): void {
    this.wokenAt = this.clock.monotonic();
    const woken = [...this.waiting];
    this.lastCrowd = woken.length;
    this.waiting = new Set();
    this.wakeSome(woken, 0);
  }

  private wakeSome(woken: readonly (() => void)[], from: number): void {
    for (const end of woken.slice(from, from + WOKEN_AT_ONCE)) end();
    const next = from + WOKEN_AT_ONCE;
    if (next < woken.length) this.clock.after(0, () => this.wakeSome(woken, next));
  }
}
