import type { StopReason } from '@cdui/protocol';

const REASONS: readonly StopReason[] = ['user', 'budget', 'shutdown', 'lost'];

/** The request to stop, in memory that both threads see: a thread that never yields receives no message, but it can look. */
export class StopWord {
  private readonly word: Int32Array;

  constructor(readonly buffer: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.word = new Int32Array(buffer);
  }

  get reason(): StopReason | null {
    return REASONS[Atomics.load(this.word, 0) - 1] ?? null;
  }

  set(reason: StopReason): void {
    Atomics.store(this.word, 0, REASONS.indexOf(reason) + 1);
  }

  clear(): void {
    Atomics.store(this.word, 0, 0);
  }
}
