/** One device on one machine; it admits a fixed number of runs at once. */
export interface Slot {
  /** `local`, or a worker's id. */
  readonly worker: string;
  readonly device: string;
}

/** The slot's name: `local/cuda:0`. Neither part holds a slash. */
export function slotKey({ worker, device }: Slot): string {
  return `${worker}/${device}`;
}

/** How many runs each slot holds. */
export class SlotCounts {
  private readonly counts = new Map<string, number>();

  of(slot: Slot): number {
    return this.counts.get(slotKey(slot)) ?? 0;
  }

  add(slots: readonly Slot[]): void {
    for (const slot of slots) this.counts.set(slotKey(slot), this.of(slot) + 1);
  }

  remove(slots: readonly Slot[]): void {
    for (const slot of slots) {
      const left = this.of(slot) - 1;
      if (left > 0) this.counts.set(slotKey(slot), left);
      else this.counts.delete(slotKey(slot));
    }
  }
}
