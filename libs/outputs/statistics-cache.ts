import type { TensorStatistics } from './statistics';

interface Entry {
  readonly statistics: TensorStatistics;
  readonly bytes: number;
}

/** Statistics that were asked for lately; the least recently used go first. */
export class StatisticsCache {
  private readonly entries = new Map<string, Entry>();
  private total = 0;

  constructor(private readonly maxBytes: number) {}

  get(key: string): TensorStatistics | null {
    const entry = this.entries.get(key);
    if (!entry) return null;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.statistics;
  }

  put(key: string, statistics: TensorStatistics): void {
    this.drop(key);
    const bytes = (key.length + JSON.stringify(statistics).length) * 2;
    this.entries.set(key, { statistics, bytes });
    this.total += bytes;
    for (const oldest of this.entries.keys()) {
      if (this.total <= this.maxBytes) return;
      this.drop(oldest);
    }
  }

  private drop(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.entries.delete(key);
    this.total -= entry.bytes;
  }
}
