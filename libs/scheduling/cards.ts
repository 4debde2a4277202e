import type { Placed, WorkerState } from './requests';
import { LOCAL } from './requests';
import { SlotLimits } from './slot-limits';
import type { Slot, SlotUsage } from './slots';
import { slotKey } from './slots';

/**
 * The physical devices behind the slots, and how many runs hold each. Every slot stays its offerer's own; those that are one device count
 * together, under the smallest limit of the offerers that are online or hold a run there. What a worker offered is remembered while it is away.
 */
export class Cards {
  private readonly workers = new Map<string, WorkerState>();
  /** Device -> the slots that are it. */
  private readonly offerers = new Map<string, readonly Slot[]>();
  /** How many runs hold each device. */
  readonly counts = new Map<string, number>();
  private readonly holders = new Map<string, Set<Placed>>();
  /** What each run that holds something is counted on, by its worker. */
  private readonly held = new Map<string, Map<Placed, readonly string[]>>();
  private limits = new SlotLimits();

  worker(id: string): WorkerState | undefined {
    return this.workers.get(id);
  }

  limitBy(limits: SlotLimits): void {
    this.limits = limits;
  }

  /** Takes note of what a machine is now. @returns the physical devices that this is about, before and after */
  change(worker: WorkerState): readonly string[] {
    const { id } = worker;
    const before = this.slotsOf(id);
    const concerned = new Set(before.map((slot) => this.cardOf(slot)));
    for (const slot of before) this.unlist(this.cardOf(slot), slot);
    const held = [...(this.held.get(id)?.keys() ?? [])];
    for (const placed of held) this.remove(placed);
    this.workers.set(id, worker);
    for (const slot of this.slotsOf(id)) {
      const card = this.cardOf(slot);
      concerned.add(card);
      this.offerers.set(card, [...this.offerersOf(card), slot]);
    }
    for (const placed of held) this.add(placed);
    return [...concerned];
  }

  /** The slots that are the physical device, those of machines that are away included. */
  offerersOf(card: string): readonly Slot[] {
    return this.offerers.get(card) ?? [];
  }

  /** The name of the physical device behind a slot. */
  cardOf(slot: Slot): string {
    return this.identityOf(slot) ?? slotKey(slot);
  }

  /** What is known of the devices, to go on counting a run on them when nobody is there to ask. */
  identitiesOf(slots: readonly Slot[]): Readonly<Record<string, string>> | undefined {
    const known = slots.flatMap((slot) => {
      const identity = this.identityOf(slot);
      return identity === undefined ? [] : [[slot.device, identity] as const];
    });
    return known.length > 0 ? Object.fromEntries(known) : undefined;
  }

  /** The physical devices that a run holds, each once. */
  cardsOf({ slots, identities }: Pick<Placed, 'slots' | 'identities'>): readonly string[] {
    const cards = slots.map((slot) => own(identities, slot.device) ?? this.cardOf(slot));
    return cards.length > 1 ? [...new Set(cards)] : cards;
  }

  add(placed: Placed): void {
    let ofWorker = this.held.get(placed.worker);
    if (!ofWorker) this.held.set(placed.worker, (ofWorker = new Map()));
    const cards = this.cardsOf(placed);
    ofWorker.set(placed, cards);
    for (const card of cards) {
      this.counts.set(card, this.used(card) + 1);
      let holders = this.holders.get(card);
      if (!holders) this.holders.set(card, (holders = new Set()));
      holders.add(placed);
    }
  }

  /** @returns what the run held */
  remove(placed: Placed): readonly string[] {
    const ofWorker = this.held.get(placed.worker);
    const cards = ofWorker?.get(placed) ?? [];
    ofWorker?.delete(placed);
    if (ofWorker?.size === 0) this.held.delete(placed.worker);
    for (const card of cards) {
      const left = this.used(card) - 1;
      if (left > 0) this.counts.set(card, left);
      else this.counts.delete(card);
      const holders = this.holders.get(card);
      holders?.delete(placed);
      if (holders?.size === 0) this.holders.delete(card);
    }
    return cards;
  }

  used(card: string): number {
    return this.counts.get(card) ?? 0;
  }

  /** How many runs the physical device behind the slot admits. */
  limit(slot: Slot): number {
    return this.leastLimit(slot).limit;
  }

  usage(slot: Slot): SlotUsage {
    const card = this.cardOf(slot);
    const { limit, by } = this.leastLimit(slot);
    const sameCard = this.offerersOf(card).filter((other) => slotKey(other) !== slotKey(slot));
    return { used: this.used(card), limit, limitedBy: by, sameCard };
  }

  private leastLimit(slot: Slot): { readonly limit: number; readonly by: string | null } {
    const card = this.cardOf(slot);
    let limit = this.ownLimit(slot, card);
    let by: string | null = null;
    const take = (other: Slot): void => {
      const theirs = this.ownLimit(other, card);
      if (theirs < limit) [limit, by] = [theirs, other.worker];
    };
    for (const other of this.offerersOf(card)) if (this.workers.get(other.worker)?.online) take(other);
    for (const placed of this.holders.get(card) ?? []) {
      for (const held of placed.slots) if (this.isOn(held, card, placed)) take(held);
    }
    return { limit, by };
  }

  private isOn(slot: Slot, card: string, { identities }: Placed): boolean {
    return (own(identities, slot.device) ?? this.cardOf(slot)) === card;
  }

  /** A worker on the server's own machine has the server's limit for the device, unless it is given one of its own. */
  private ownLimit(slot: Slot, card: string): number {
    const given = this.limits.given(slot);
    if (given !== undefined || !this.workers.get(slot.worker)?.sameHost) return given ?? this.limits.of(slot);
    const servers = this.offerersOf(card).find(({ worker }) => worker === LOCAL);
    return this.limits.of(servers ?? { worker: LOCAL, device: slot.device });
  }

  private identityOf({ worker, device }: Slot): string | undefined {
    return own(this.workers.get(worker)?.identities, device);
  }

  private slotsOf(worker: string): readonly Slot[] {
    return (this.workers.get(worker)?.devices ?? []).map((device) => ({ worker, device }));
  }

  private unlist(card: string, { device, worker }: Slot): void {
    const left = this.offerersOf(card).filter((slot) => slot.worker !== worker || slot.device !== device);
    if (left.length > 0) this.offerers.set(card, left);
    else this.offerers.delete(card);
  }
}

function own(names: Readonly<Record<string, string>> | undefined, device: string): string | undefined {
  return names !== undefined && Object.hasOwn(names, device) ? names[device] : undefined;
}
