import type { KnownWorker, Machine } from './world';

/** Which cards the server has: asked for once, and only where a card could be offered by somebody else as well. */
export class ServerCards {
  private learning: Promise<void> | null = null;
  private isKnown = false;
  /** Workers that wait for it. */
  private readonly waiting = new Map<string, () => void>();

  /** @param learned is told the names of the cards, once */
  constructor(
    private readonly machine: Pick<Machine, 'devices' | 'cards'>,
    private readonly learned: (identities: Readonly<Record<string, string>>) => void,
  ) {
    this.isKnown = machine.devices.every((device) => device === 'cpu');
  }

  /** Never fails, and is over within the 2 s that the driver has. */
  learn(): Promise<void> {
    if (this.isKnown) return Promise.resolve();
    this.learning ??= this.ask();
    return this.learning;
  }

  /**
   * Whether it is known which of a worker's cards are the server's.
   *
   * @param later is called when it is known, if it is not yet
   */
  knowsOf({ id, devices }: Pick<KnownWorker, 'id' | 'devices'>, later: () => void): boolean {
    if (this.isKnown || devices.every((device) => device === 'cpu')) return true;
    this.waiting.set(id, later);
    void this.learn();
    return false;
  }

  private async ask(): Promise<void> {
    // A machine that does not tell has no cards that anybody could find elsewhere.
    const identities = await this.machine.cards().catch(() => ({}));
    this.isKnown = true;
    this.learned(identities);
    for (const later of this.waiting.values()) later();
    this.waiting.clear();
  }
}
