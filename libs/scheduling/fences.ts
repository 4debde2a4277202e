import type { Cards } from './cards';
import type { Placed } from './requests';

/** What runs held that returned from a worker which may still be about to execute them. */
export class Fences {
  readonly all = new Set<Placed>();
  private readonly byRun = new Map<string, Set<Placed>>();

  add(placed: Placed): void {
    this.all.add(placed);
    const { id } = placed.run;
    this.byRun.set(id, (this.byRun.get(id) ?? new Set()).add(placed));
  }

  /** @returns whether it was there */
  delete(placed: Placed): boolean {
    const { id } = placed.run;
    const ofRun = this.byRun.get(id);
    ofRun?.delete(placed);
    if (ofRun?.size === 0) this.byRun.delete(id);
    return this.all.delete(placed);
  }

  isFenced(runId: string): boolean {
    return this.byRun.has(runId);
  }

  /** The physical devices that the run must not take again. */
  cards(runId: string, cards: Cards): ReadonlySet<string> {
    return new Set([...(this.byRun.get(runId) ?? [])].flatMap((placed) => cards.cardsOf(placed)));
  }
}
