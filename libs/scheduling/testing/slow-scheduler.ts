import type { Placed, WaitingRun, WorkerState } from '../requests';
import type { SlotLimits } from '../slot-limits';
import type { Slot } from '../slots';

/** The same rules without any bookkeeping: everything is worked out anew from the list of runs, as the rules are written. */
export class SlowScheduler {
  waiting: WaitingRun[] = [];
  held: Placed[] = [];
  /** What returned runs held that is not free yet. */
  fenced: Placed[] = [];
  readonly workers = new Map<string, WorkerState>();
  readonly draining = new Set<string>();

  constructor(public limits: SlotLimits) {}

  /** The physical device behind a slot, or behind what a run held when it got it. */
  card({ worker, device }: Slot, then?: Placed): string {
    return then?.identities?.[device] ?? this.workers.get(worker)?.identities?.[device] ?? `${worker}/${device}`;
  }

  cards(placed: Placed): string[] {
    return placed.slots.map((slot) => this.card(slot, placed));
  }

  get holding(): Placed[] {
    return [...this.held, ...this.fenced];
  }

  used(worker: string, device: string): number {
    return this.holding.filter((placed) => this.cards(placed).includes(this.card({ worker, device }))).length;
  }

  get slots(): Slot[] {
    return [...this.workers.values()].flatMap(({ id, devices }) => devices.map((device) => ({ worker: id, device })));
  }

  limit(slot: Slot): number {
    const card = this.card(slot);
    const online = this.slots.filter((other) => this.workers.get(other.worker)!.online && this.card(other) === card);
    const holding = this.holding.flatMap((placed) => placed.slots.filter((held) => this.card(held, placed) === card));
    return Math.min(...[slot, ...online, ...holding].map((other) => this.ownLimit(other)));
  }

  private ownLimit(slot: Slot): number {
    const isGuest = this.workers.get(slot.worker)?.sameHost && this.limits.given(slot) === undefined;
    if (!isGuest) return this.limits.of(slot);
    const servers = this.slots.find((other) => other.worker === 'local' && this.card(other) === this.card(slot));
    return this.limits.of(servers ?? { worker: 'local', device: slot.device });
  }

  /** The oldest first; and in their queues as they shall be served. */
  inOrder(): WaitingRun[] {
    return [...this.waiting].sort((a, b) => a.queueSeq - b.queueSeq);
  }

  ahead(run: WaitingRun): WaitingRun[] {
    const rank = ({ rank, queueSeq }: WaitingRun): number => rank ?? queueSeq;
    return this.waiting.filter((other) => {
      if (other.queueKey !== run.queueKey || other === run) return false;
      const more = (other.priority ?? 0) - (run.priority ?? 0);
      return more > 0 || (more === 0 && rank(other) < rank(run));
    });
  }

  isFront(run: WaitingRun): boolean {
    return this.ahead(run).length === 0;
  }

  /** Machines that could take the run if they had room, in the order in which they are asked. */
  machines(run: WaitingRun): string[] {
    const open = [...this.workers.values()].filter(({ id, online }) => online && !this.draining.has(id));
    const offering = open.filter(({ devices }) =>
      run.kind === undefined
        ? run.devices.every((device) => devices.includes(device))
        : devices.some((device) => device.split(':')[0] === run.kind),
    );
    if (run.worker !== 'any') return offering.map(({ id }) => id).filter((id) => id === run.worker);
    const renumbered =
      run.devices.some((device) => device.startsWith('cuda')) && String(run.devices) !== String(['cuda:0']);
    const workers = offering.filter(
      ({ id, complete, capabilities }) =>
        id !== 'local' && complete !== false && (run.needs ?? []).every((one) => capabilities?.includes(one)),
    );
    const names = workers.map(({ id }) => id).sort();
    return offering.some(({ id }) => id === 'local') && !renumbered ? [...names, 'local'] : names;
  }

  canGo(run: WaitingRun): boolean {
    return this.machines(run).length > 0;
  }

  private fronts(): WaitingRun[] {
    return this.inOrder().filter((run) => this.isFront(run) && this.canGo(run));
  }

  /** Whether a run with a seed, this one or another, keeps a front from the server. */
  isGated(run: WaitingRun): boolean {
    const beside = this.held.filter((placed) => placed.worker === 'local');
    const older = this.fronts().filter((other) => other.queueSeq < run.queueSeq);
    const keepsFree = older.some((other) => other.alone && this.comesHere(other));
    return keepsFree || beside.some((placed) => placed.run.alone) || (run.alone === true && beside.length > 0);
  }

  /** Whether the server is the only machine for it. */
  comesHere(run: WaitingRun): boolean {
    return String(this.machines(run)) === 'local';
  }

  next(): Placed | null {
    const fronts = this.fronts();
    for (const run of fronts) {
      const older = fronts.filter((other) => other.queueSeq < run.queueSeq);
      for (const worker of this.machines(run)) {
        const devices = this.fit(run, worker, older);
        if (!devices) continue;
        const slots = devices.map((device) => ({ worker, device }));
        const mine = this.workers.get(worker)!.identities ?? {};
        const known = devices.filter((device) => mine[device] !== undefined);
        const identities = Object.fromEntries(known.map((device) => [device, mine[device]!]));
        const placed: Placed = { run, worker, devices, slots, ...(known.length > 0 && { identities }) };
        this.waiting = this.waiting.filter((other) => other !== run);
        this.held.push(placed);
        return placed;
      }
    }
    return null;
  }

  private fit(run: WaitingRun, worker: string, older: readonly WaitingRun[]): readonly string[] | null {
    if (worker === 'local' && this.isGated(run)) return null;
    const mine = this.fenced.filter((placed) => placed.run.id === run.id).flatMap((placed) => this.cards(placed));
    const room = (device: string): boolean => {
      const card = this.card({ worker, device });
      const sets = older.filter(
        (other) =>
          other.worker !== 'any' &&
          other.devices.length > 1 &&
          other.devices.some((one) => this.card({ worker: other.worker, device: one }) === card),
      );
      return !mine.includes(card) && this.used(worker, device) + sets.length < this.limit({ worker, device });
    };
    if (run.kind === undefined) return run.devices.every(room) ? run.devices : null;
    const offered = this.workers.get(worker)!.devices.filter((device) => device.split(':')[0] === run.kind);
    const device = offered.find(room);
    return device === undefined ? null : [device];
  }

  position(id: string): number | null {
    const run = this.waiting.find((other) => other.id === id);
    const ahead = run && this.ahead(run).length;
    return ahead !== undefined && ahead < 1_000 ? ahead + 1 : null;
  }
}
