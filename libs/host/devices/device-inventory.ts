import type { DeviceFacts } from '@cdui/protocol';
import { Cpu } from './cpu';
import { Mps } from './mps';
import { NvidiaCards } from './nvidia-cards';

/** What computes on this machine. */
export interface DeviceInventory {
  /** Everything that answers within 2 s: `cpu` first, then the cards in their order. Never fails. */
  read(): Promise<readonly DeviceFacts[]>;
}

/** The machine's own answer. Make one and keep it: utilization and a driver that does not answer are judged from read to read. */
export class MachineInventory implements DeviceInventory {
  readonly #cpu = new Cpu();
  readonly #mps = new Mps();
  readonly #cards: NvidiaCards;

  /** @param cards where NVIDIA's cards are asked for; the machine's driver unless said otherwise */
  constructor(cards: NvidiaCards = new NvidiaCards()) {
    this.#cards = cards;
  }

  async read(): Promise<readonly DeviceFacts[]> {
    const [cpu, cards, mps] = await Promise.all([this.#cpu.read(), this.#cards.read(), this.#mps.read()]);
    return [cpu, ...cards, ...mps];
  }
}
