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

/** How a slot stands. */
export interface SlotUsage {
  /** How many runs hold its physical device, whoever's slot they came through. */
  readonly used: number;
  readonly limit: number;
  /** Whose limit applies, when it is another offerer's of the same physical device. */
  readonly limitedBy: string | null;
  /** The other slots that are this physical device. */
  readonly sameCard: readonly Slot[];
}
