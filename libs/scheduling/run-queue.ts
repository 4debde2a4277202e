/** What makes a run wait where it waits. */
export interface Queued {
  readonly id: string;
  readonly queueKey: string;
  /** Its place in the order of submission; a run that returns to the queue keeps it. */
  readonly queueSeq: number;
}

/** Positions further back than this are not told. */
export const MAX_POSITION = 1_000;

/** One queue of runs with the same key, the oldest first. */
export class RunQueue<R extends Queued> {
  private runs = new Map<string, R>();
  private newest = -Infinity;
  private positions: Map<string, number> | null = null;

  get size(): number {
    return this.runs.size;
  }

  get front(): R | undefined {
    for (const run of this.runs.values()) return run;
    return undefined;
  }

  /** Puts the run where its `queueSeq` belongs: at the end, unless it comes back. */
  add(run: R): void {
    this.positions = null;
    this.runs.set(run.id, run);
    if (run.queueSeq >= this.newest) this.newest = run.queueSeq;
    else this.runs = new Map([...this.runs].sort(([, a], [, b]) => a.queueSeq - b.queueSeq));
  }

  remove(id: string): boolean {
    this.positions = null;
    return this.runs.delete(id);
  }

  /** From 1; null when the run is not among the first `MAX_POSITION`. */
  position(id: string): number | null {
    this.positions ??= this.count();
    return this.positions.get(id) ?? null;
  }

  private count(): Map<string, number> {
    const positions = new Map<string, number>();
    for (const id of this.runs.keys()) {
      if (positions.size === MAX_POSITION) break;
      positions.set(id, positions.size + 1);
    }
    return positions;
  }
}
