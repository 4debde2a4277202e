import type { Clock } from '@cdui/execution';

/** A clock that a test turns. */
export class TurnedClock implements Clock {
  private wall = 1_764_500_000_000;
  private passed = 0;
  private timers: { readonly at: number; readonly then: () => void }[] = [];

  /** Callbacks that are to come. */
  get waiting(): number {
    return this.timers.length;
  }

  now(): number {
    return this.wall;
  }

  monotonic(): number {
    return this.passed;
  }

  after(ms: number, then: () => void): () => void {
    const timer = { at: this.passed + ms, then };
    this.timers.push(timer);
    return () => (this.timers = this.timers.filter((other) => other !== timer));
  }

  advance(ms: number): void {
    this.wall += ms;
    this.passed += ms;
    const due = this.timers.filter(({ at }) => at <= this.passed).sort((a, b) => a.at - b.at);
    this.timers = this.timers.filter(({ at }) => at > this.passed);
    for (const { then } of due) then();
  }

  setBack(ms: number): void {
    this.wall -= ms;
  }
}
