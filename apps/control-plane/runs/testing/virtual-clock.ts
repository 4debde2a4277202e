import type { Clock } from '@cdui/execution';

interface Alarm {
  readonly at: number;
  readonly then: () => void;
}

/** Time that stands still until it is told to go on. */
export class VirtualClock implements Clock {
  private time = 0;
  private readonly alarms = new Set<Alarm>();

  constructor(private readonly epoch = Date.UTC(2026, 0, 1)) {}

  now(): number {
    return this.epoch + this.time;
  }

  monotonic(): number {
    return this.time;
  }

  after(ms: number, then: () => void): () => void {
    const alarm = { at: this.time + ms, then };
    this.alarms.add(alarm);
    return () => void this.alarms.delete(alarm);
  }

  /** The same time for a program that starts now: what an earlier one had set rings for nobody. */
  restarted(): VirtualClock {
    return new VirtualClock(this.now());
  }

  /** How long until the next alarm; null when there is none. */
  get next(): number | null {
    const times = [...this.alarms].map(({ at }) => at - this.time);
    return times.length > 0 ? Math.min(...times) : null;
  }

  /** Lets time pass; alarms ring in order, each at its time. */
  advance(ms: number): void {
    const end = this.time + ms;
    for (let alarm = this.due(end); alarm; alarm = this.due(end)) {
      this.alarms.delete(alarm);
      this.time = alarm.at;
      alarm.then();
    }
    this.time = end;
  }

  private due(end: number): Alarm | null {
    const due = [...this.alarms].filter(({ at }) => at <= end);
    return due.sort((a, b) => a.at - b.at)[0] ?? null;
  }
}
