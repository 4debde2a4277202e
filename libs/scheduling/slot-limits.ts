import type { Slot } from './slots';
import { slotKey } from './slots';

/** `CODEFYUI_RUN_QUEUE_MAX_CONCURRENT_GPU`, `_CPU` and `CODEFYUI_RUN_QUEUE_MAX_CONCURRENT`. */
export interface LimitSettings {
  readonly gpu: number;
  readonly cpu: number;
  /** `cuda:0=2,gpu-box-1/cuda:0=3`; a device without a worker is the server's own. */
  readonly overrides: string;
}

export const DEFAULT_LIMITS: LimitSettings = { gpu: 1, cpu: 2, overrides: '' };

/** How many runs each slot admits at once. */
export class SlotLimits {
  private readonly gpu: number;
  private readonly cpu: number;
  private readonly overrides: ReadonlyMap<string, number>;

  constructor(settings: LimitSettings = DEFAULT_LIMITS) {
    this.gpu = atLeastOne(settings.gpu);
    this.cpu = atLeastOne(settings.cpu);
    this.overrides = parseOverrides(settings.overrides);
  }

  /** What the settings say about just this slot. */
  given(slot: Slot): number | undefined {
    return this.overrides.get(slotKey(slot));
  }

  of(slot: Slot): number {
    return this.given(slot) ?? (slot.device === 'cpu' ? this.cpu : this.gpu);
  }
}

const OVERRIDE = /^(?:([a-z0-9][a-z0-9.-]*)\/)?(cpu|(?:cuda|mps):\d+)=([+-]?\d+)$/;

/** Items that are malformed are ignored; of two for one slot the last counts; less than one becomes one. @param onIgnored is told each malformed one */
export function parseOverrides(
  text: string,
  onIgnored: (item: string) => void = () => undefined,
): ReadonlyMap<string, number> {
  const overrides = new Map<string, number>();
  for (const item of text.split(',')) {
    const match = OVERRIDE.exec(item.replaceAll(/\s+/g, '').toLowerCase());
    const [, worker = 'local', device, count] = match ?? [];
    if (device !== undefined) overrides.set(slotKey({ worker, device }), atLeastOne(Number(count)));
    else if (item.trim() !== '') onIgnored(item.trim());
  }
  return overrides;
}

function atLeastOne(count: number): number {
  return Number.isFinite(count) ? Math.max(1, Math.floor(count)) : 1;
}
