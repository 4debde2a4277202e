import type { AgentClock } from '../agent/core/world';

interface Alarm {
  readonly at: number;
  readonly order: number;
  readonly then: () => void;
}

/** What one program has of the time: when it dies, nothing that it waited for happens. */
export interface Party {
  readonly clock: AgentClock;
  kill(): void;
  /** It stands still for so long while its machine does not: its alarms ring late. */
  freeze(ms: number): void;
}

const EPOCH = Date.UTC(2026, 0, 1);

/** The one time of a simulated world; it goes on only when it is told to. */
export class SimTime {
  now = 0;
  private order = 0;
  private readonly alarms = new Set<Alarm>();

  party(): Party {
    const own = new Set<Alarm>();
    let dead = false;
    let frozenUntil = 0;
    const after = (ms: number, then: () => void): (() => void) => {
      let alarm: Alarm;
      const set = (at: number): void => {
        alarm = { at, order: this.order++, then: ring };
        own.add(alarm);
        this.alarms.add(alarm);
      };
      const ring = (): void => {
        own.delete(alarm);
        if (this.now >= frozenUntil) then();
        else set(frozenUntil);
      };
      if (dead) return () => undefined;
      set(this.now + Math.max(0, ms));
      return () => {
        own.delete(alarm);
        this.alarms.delete(alarm);
      };
    };
    return {
      clock: { now: () => EPOCH + this.now, monotonic: () => this.now, boottime: () => this.now, after },
      kill: () => {
        dead = true;
        for (const alarm of own) this.alarms.delete(alarm);
      },
      freeze: (ms) => (frozenUntil = Math.max(frozenUntil, this.now + ms)),
    };
  }

  /** Lets time pass up to the next alarm, but no further than `until`. @returns whether one rang */
  step(until: number): boolean {
    let next: Alarm | null = null;
    for (const alarm of this.alarms) {
      if (alarm.at <= until && (!next || alarm.at < next.at || (alarm.at === next.at && alarm.order < next.order))) {
        next = alarm;
      }
    }
    if (!next) {
      this.now = until;
      return false;
    }
    this.alarms.delete(next);
    this.now = Math.max(this.now, next.at);
    next.then();
    return true;
  }
}

/** Everything that promises had in mind has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Chance that a seed decides: mulberry32, a generator in the public domain. */
export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[this.below(from.length)];
  }

  /** Picks by weight. */
  weighted<T>(choices: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of choices) if ((left -= weight) < 0) return value;
    return choices[choices.length - 1]![1];
  }
}
