import type { RunWorld } from './world';

/** Runs that are removed at a time: others may write in between. */
const BATCH = 50;

/** Keeps the newest ended runs, as many as the settings say, and removes the others, the oldest first. */
export class Retention {
  private working = false;
  private again = false;

  /** @param removed whatever else belongs to a run that was removed */
  constructor(
    private readonly world: RunWorld,
    private readonly removed: (id: string) => Promise<void>,
  ) {}

  /** Looks for runs to remove, in the background. */
  trim(): void {
    if (this.world.limits.keepLast < 0) return;
    this.again = true;
    if (this.working) return;
    this.working = true;
    void this.work();
  }

  private async work(): Promise<void> {
    const { store, limits, report } = this.world;
    while (this.again) {
      this.again = false;
      try {
        const ids = await store.surplus(limits.keepLast, BATCH);
        for (const id of ids) if (await store.delete(id)) await this.removed(id);
        if (ids.length === BATCH) this.again = true;
      } catch (error) {
        // The next run that ends has it tried again.
        report('Ended runs beyond those that are kept could not be removed', error);
      }
    }
    this.working = false;
  }
}
