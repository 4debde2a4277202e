import { promisify } from 'node:util';
import type { LibraryHandle } from 'koffi';

/** A card as NVML shows it at one moment. Sizes in bytes; null where the card does not tell. */
export interface NvmlCard {
  readonly uuid: string | null;
  readonly name: string;
  /** Domain, bus and device number: cards are numbered in this order. */
  readonly pci: readonly [number, number, number];
  readonly total: number | null;
  readonly free: number | null;
  /** 0 to 100. */
  readonly utilization: number | null;
}

const SUCCESS = 0;
const UNINITIALIZED = 1;
const NOT_FOUND = 6;
const GPU_IS_LOST = 15;

/** What NVML's buffers hold at most, by its header. */
const TEXT_BYTES = 96;
const PCI_INFO_BYTES = 68;
const PCI_DOMAIN_OFFSET = 16;

type Call = (...args: readonly unknown[]) => Promise<number>;

/**
 * NVIDIA's management library. Each call runs on a thread of the pool and they follow one another, so that a driver that does not answer costs one
 * thread and never the event loop.
 */
export class Nvml {
  readonly #init: Call;
  readonly #count: Call;
  readonly #handle: Call;
  readonly #name: Call;
  readonly #uuid: Call;
  readonly #pci: Call;
  readonly #memory: Call;
  readonly #rates: Call;
  #ready = false;

  private constructor(library: LibraryHandle) {
    const call = (definition: string): Call => promisify(library.func(definition).async) as Call;
    this.#init = call('int nvmlInit_v2()');
    this.#count = call('int nvmlDeviceGetCount_v2(void *count)');
    this.#handle = call('int nvmlDeviceGetHandleByIndex_v2(uint32_t index, void *device)');
    this.#name = call('int nvmlDeviceGetName(uintptr_t device, void *name, uint32_t length)');
    this.#uuid = call('int nvmlDeviceGetUUID(uintptr_t device, void *uuid, uint32_t length)');
    this.#pci = call('int nvmlDeviceGetPciInfo_v3(uintptr_t device, void *pci)');
    this.#memory = call('int nvmlDeviceGetMemoryInfo(uintptr_t device, void *memory)');
    this.#rates = call('int nvmlDeviceGetUtilizationRates(uintptr_t device, void *rates)');
  }

  /** Null where the library is not there, or is too old to have the calls. */
  static async load(path: string): Promise<Nvml | null> {
    try {
      const { load } = await import('koffi');
      return new Nvml(load(path));
    } catch {
      return null;
    }
  }

  /** The cards that answer, in no order. A driver that says no to everything has none. */
  async cards(): Promise<readonly NvmlCard[]> {
    if (!this.#ready && (await this.#init()) !== SUCCESS) return [];
    this.#ready = true;
    const count = new Uint32Array(1);
    const code = await this.#count(count);
    if (code !== SUCCESS) {
      // The driver was unloaded under us: the next read begins anew.
      if (code === UNINITIALIZED) this.#ready = false;
      return [];
    }
    const cards: NvmlCard[] = [];
    for (let index = 0; index < count[0]!; index++) {
      const card = await this.#card(index);
      if (card !== null) cards.push(card);
    }
    return cards;
  }

  /** Null for a card that is lost, or that does not say where it sits: it cannot be numbered. */
  async #card(index: number): Promise<NvmlCard | null> {
    const handle = new BigUint64Array(1);
    if ((await this.#handle(index, handle)) !== SUCCESS) return null;
    const device = handle[0]!;
    const pci = new DataView(new ArrayBuffer(PCI_INFO_BYTES));
    if ((await this.#pci(device, pci)) !== SUCCESS) return null;
    const memory = new BigUint64Array(3);
    const memoryCode = await this.#memory(device, memory);
    const rates = new Uint32Array(2);
    const ratesCode = await this.#rates(device, rates);
    if ([memoryCode, ratesCode].some((code) => code === GPU_IS_LOST || code === NOT_FOUND)) return null;
    return {
      uuid: await text(this.#uuid, device),
      name: (await text(this.#name, device)) ?? 'NVIDIA GPU',
      pci: [0, 4, 8].map((offset) => pci.getUint32(PCI_DOMAIN_OFFSET + offset, true)) as [number, number, number],
      total: memoryCode === SUCCESS ? Number(memory[0]) : null,
      free: memoryCode === SUCCESS ? Number(memory[1]) : null,
      utilization: ratesCode === SUCCESS ? rates[0]! : null,
    };
  }
}

async function text(call: Call, device: bigint): Promise<string | null> {
  const bytes = Buffer.alloc(TEXT_BYTES);
  if ((await call(device, bytes, TEXT_BYTES)) !== SUCCESS) return null;
  return bytes.toString('utf8', 0, bytes.indexOf(0));
}
