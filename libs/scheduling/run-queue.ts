/** What makes a run wait where it waits. */
export interface Queued {
  readonly id: string;
  readonly queueKey: string;
  /** Its place in the order of submission; a run that returns to the queue keeps it. */
  readonly queueSeq: number;
  /** Higher ones come first in their queue; 0 when it is not said. */
  readonly priority?: number;
  /** Its place among those with the same priority; `queueSeq` unless it was moved. */
  readonly rank?: number;
}

/** Positions further back than this are not told. */
export const MAX_POSITION = 1_000;

/** One queue of runs with the same key: by priority, then the oldest first, unless they were moved. */
export class RunQueue<R extends Queued> {
  private readonly runs: R[] = [];

  get size(): number {
    return this.runs.length;
  }

  get front(): R | undefined {
    return this.runs[0];
  }

  /** Puts the run where it belongs: at the end, unless it comes back or is more urgent. */
  add(run: R): void {
    const last = this.runs.at(-1);
    if (last === undefined || compare(last, run) < 0) this.runs.push(run);
    else this.runs.splice(this.indexOf(run), 0, run);
  }

  /** @param run as it was added */
  remove(run: R): boolean {
    const index = this.indexOf(run);
    if (this.runs[index]?.id !== run.id) return false;
    if (index === 0) this.runs.shift();
    else this.runs.splice(index, 1);
    return true;
  }

  /** From 1; null when the run is not among the first `MAX_POSITION`. */
  position(run: R): number | null {
    const index = this.indexOf(run);
    return index < MAX_POSITION && this.runs[index]?.id === run.id ? index + 1 : null;
  }

  /**
   * What the run must be to stand at a position; null when there is no number left between its neighbours'.
   *
   * @param index from 0, among the others; beyond the last is the end
   * @param newest the `queueSeq` given last: whoever is submitted later must not come before it
   */
  moved(run: R, index: number, newest: number): R | null {
    const others = this.runs.filter(({ id }) => id !== run.id);
    const after = others[index];
    const before = after ? others[index - 1] : others.at(-1);
    const priority = priorityOf(after ?? before ?? run);
    // Of neighbours with other priorities only one bounds it: it joins those that it stands before, or else the last ones.
    const low = before && priorityOf(before) === priority ? rankOf(before) : rankOf(after ?? run) - 1;
    const high = after ? rankOf(after) : newest + 1;
    const rank = (low + high) / 2;
    return low < rank && rank < high ? { ...run, priority, rank } : null;
  }

  /** Numbers all runs anew in their order. @param newest as for `moved` @returns them as they are now */
  renumber(newest: number): readonly R[] {
    const { runs } = this;
    runs.forEach((run, index) => (runs[index] = { ...run, rank: newest - runs.length + 1 + index }));
    return runs;
  }

  /** From 0, among all of them. */
  indexOf(run: R): number {
    let [low, high] = [0, this.runs.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compare(this.runs[middle]!, run) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function compare(a: Queued, b: Queued): number {
  return priorityOf(b) - priorityOf(a) || rankOf(a) - rankOf(b) || a.queueSeq - b.queueSeq;
}

function priorityOf({ priority }: Queued): number {
  return priority ?? 0;
}

function rankOf({ rank, queueSeq }: Queued): number {
  return rank ?? queueSeq;
}
