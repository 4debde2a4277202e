import { setTimeout as sleep } from 'node:timers/promises';
import type { DeviceFacts } from '@cdui/protocol';
import { Nvml, type NvmlCard } from './nvml';

/** How long a driver may take for all cards together. */
const DEADLINE_MS = 2_000;

/**
 * The NVIDIA cards of this machine. One question to the driver is under way at a time: while one is late, what was last known stands in for its
 * answer, without the figures that change (free memory, utilization).
 *
 * `cuda:N` numbers the cards that answer in the order of the PCI bus, as CUDA does under `CUDA_DEVICE_ORDER=PCI_BUS_ID`. A card that is lost is
 * left out, and those behind it move up, as in a program that starts now. A card stays the same card by its `uuid`, not by its number.
 */
export class NvidiaCards {
  readonly #library: string;
  readonly #deadlineMs: number;
  #nvml: Nvml | null = null;
  #asked: { readonly answer: Promise<readonly DeviceFacts[]>; readonly since: number } | null = null;
  #known: readonly DeviceFacts[] = [];

  constructor(library: string = nvmlLibrary(), deadlineMs = DEADLINE_MS) {
    this.#library = library;
    this.#deadlineMs = deadlineMs;
  }

  /** Answers within the deadline, counted from the question to the driver: at once when that is overdue. Never fails. */
  async read(): Promise<readonly DeviceFacts[]> {
    this.#asked ??= { answer: this.#ask(), since: performance.now() };
    const late = new AbortController();
    const left = Math.max(0, this.#asked.since + this.#deadlineMs - performance.now());
    const stale = sleep(left, undefined, { signal: late.signal }).then(
      () => this.#known.map((card) => ({ ...card, free_bytes: null, utilization: null })),
      () => this.#known,
    );
    try {
      return await Promise.race([this.#asked.answer, stale]);
    } finally {
      late.abort();
    }
  }

  async #ask(): Promise<readonly DeviceFacts[]> {
    try {
      this.#nvml ??= await Nvml.load(this.#library);
      this.#known = this.#nvml === null ? [] : numbered(await this.#nvml.cards());
    } catch {
      // A call that could not even be made says nothing about the cards.
    }
    this.#asked = null;
    return this.#known;
  }
}

/** `CODEFYUI_NVML_LIBRARY`, or what the driver installs. */
export function nvmlLibrary(): string {
  const named = process.env['CODEFYUI_NVML_LIBRARY'];
  return named || (process.platform === 'win32' ? 'nvml.dll' : 'libnvidia-ml.so.1');
}

function numbered(cards: readonly NvmlCard[]): readonly DeviceFacts[] {
  return [...cards].sort(byPci).map((card, index) => ({
    device: `cuda:${index}`,
    name: card.name,
    uuid: card.uuid,
    total_bytes: card.total,
    free_bytes: card.free,
    utilization: card.utilization,
  }));
}

function byPci({ pci: a }: NvmlCard, { pci: b }: NvmlCard): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
