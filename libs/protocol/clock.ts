/** Time, as the program sees it: the one place that runs, scheduler, recovery and agents get it from, so that a simulation can turn it. */
export interface Clock {
  /** Milliseconds since the epoch. May jump. */
  now(): number;
  /** Milliseconds on a clock that never goes back. */
  monotonic(): number;
  /** Calls back once, after at least that many milliseconds. Returns how to take it back. */
  after(ms: number, then: () => void): () => void;
}

/** Chance: a number from 0 up to but not including 1. */
export type Random = () => number;
