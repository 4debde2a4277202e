/** Time, as the program sees it: the one place that runs, scheduler and recovery get it from, so that a simulation can turn it. */
export interface Clock {
  /** Milliseconds since the epoch. May jump. */
  now(): number;
  /** Milliseconds on a clock that never goes back. */
  monotonic(): number;
  /** Calls back once, after at least that many milliseconds. Returns how to take it back. */
  after(ms: number, then: () => void): () => void;
}

/** Names for what is new. */
export interface Ids {
  /** 32 hexadecimal digits that no other run has. */
  runId(): string;
}
