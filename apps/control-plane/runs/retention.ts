import type { RunWorld } from './world';

/** Runs that are removed at a time: others may write in between. */
const BATCH = 50;
/** Who waits for a run's end still has to read how it ended. */
const SPARED_MS = 60_000;

/**
 * Keeps the newest ended runs, as many as the settings say, and removes the others, the oldest first; none that ended within the last minute.
 */
export class Retention {
  private working = false;
  private again = false;
  private takeBack: (() => void) | null = null;
  private endedSince = false;
  private closed = false;

  /** @param removed whatever else belongs to a run that was removed */
  constructor(
    private readonly world: RunWorld,
    private readonly removed: (id: string) => Promise<void>,
  ) {}

  /** Looks for runs to remove, in the background, and once more when those that ended just now are spared no longer. */
  trim(): void {
    if (this.world.limits.keepLast < 0 || this.closed) return;
    if (this.takeBack === null) this.lookLater();
    else this.endedSince = true;
    this.look();
  }

  /** Removes nothing more. */
  close(): void {
    this.closed = true;
    this.takeBack?.();
    this.takeBack = null;
  }

  private lookLater(): void {
    this.endedSince = false;
    this.takeBack = this.world.clock.after(SPARED_MS, () => {
      this.takeBack = null;
      // Runs that ended since the clock was set have some time left.
      if (this.endedSince) this.lookLater();
      this.look();
    });
  }

  private look(): void {
    this.again = true;
    if (this.working) return;
    this.working = true;
    void this.work();
  }

  private async work(): Promise<void> {
    const { store, limits, clock, report } = this.world;
    while (this.again && !this.closed) {
      this.again = false;
      try {
        const ids = await store.surplus(limits.keepLast, BATCH, clock.now() - SPARED_MS);
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
