import type { Reason } from '@cdui/protocol';
import { reasonOf } from '@cdui/protocol';
import { DueQueues, WaitingQueue } from './due-queues';
import { Fences } from './fences';
import { enter, Machines } from './machines';
import { ANY, canServe, kindOf, LOCAL, offers, type Placed, type WaitingRun, type WorkerState } from './requests';
import type { SlotLimits } from './slot-limits';
import type { Slot, SlotUsage } from './slots';

/**
 * Who may start next: a pure state in memory. Every waiting run stands in one queue by its key; the oldest front of all queues that fits is
 * placed, one at a time, and its slots are taken in that moment.
 *
 * A front that needs several slots reserves those it cannot have yet: younger fronts count a reservation as if the run were there, so that
 * steady traffic on one of its devices cannot starve it. Reservations follow the order of submission, so two sets never wait for each other. A
 * front that must be alone keeps the server free in the same way, until what runs there is over. A front that takes any machine reserves nothing.
 *
 * A front that was found not to fit is not looked at again before something has changed that may let it in: each change names the queues that
 * are due.
 */
export class SchedulerState {
  private readonly queues = new Map<string, WaitingQueue>();
  private readonly waiting = new Map<string, WaitingRun>();
  private readonly held = new Map<string, Placed>();
  private readonly fences = new Fences();
  private readonly machines = new Machines();
  private readonly cards = this.machines.cards;
  /** Queues by the machine that their front asks for. */
  private readonly byWorker = new Map<string, Set<WaitingQueue>>();
  private readonly due = new DueQueues();
  private newest = 0;
  /** Runs on the server, and those of them that must be alone. */
  private here = 0;
  private aloneHere = 0;

  /** Lets the run wait. A run that returns keeps its `queueSeq`, and with it its place. */
  submit(run: WaitingRun): void {
    this.waiting.set(run.id, run);
    this.newest = Math.max(this.newest, run.queueSeq);
    let queue = this.queues.get(run.queueKey);
    if (!queue) {
      this.queues.set(run.queueKey, (queue = new WaitingQueue()));
      if (run.worker === ANY) queue.candidates = [...this.machines.names];
    }
    queue.runs.add(run);
    this.refresh(queue);
  }

  /** Takes a waiting run out. @returns whether it waited */
  remove(id: string): boolean {
    const run = this.waiting.get(id);
    const queue = run && this.queues.get(run.queueKey);
    if (!run || !queue) return false;
    this.waiting.delete(id);
    queue.runs.remove(run);
    this.refresh(queue);
    if (queue.size === 0) this.queues.delete(run.queueKey);
    return true;
  }

  /**
   * Lets a waiting run stand elsewhere in its queue. It gets the priority of those that it then stands before.
   *
   * @param to from 1, beyond the last is the end; or the id of a run that it shall stand before
   * @returns whether it waits, and the other one in the same queue
   */
  move(id: string, to: number | string): boolean {
    const run = this.waiting.get(id);
    const queue = run && this.queues.get(run.queueKey);
    if (!run || !queue) return false;
    const index = typeof to === 'number' ? to - 1 : this.indexBefore(run, to, queue);
    if (index === null) return false;
    let moved = queue.runs.moved(run, index, this.newest);
    if (moved === null) {
      for (const renumbered of queue.runs.renumber(this.newest)) this.waiting.set(renumbered.id, renumbered);
      moved = queue.runs.moved(this.waiting.get(id) ?? run, index, this.newest) ?? run;
    }
    queue.runs.remove(this.waiting.get(id) ?? run);
    queue.runs.add(moved);
    this.waiting.set(id, moved);
    this.refresh(queue);
    return true;
  }

  /** Frees the slots of a placed run, once. @returns whether it held any */
  release(id: string): boolean {
    const placed = this.held.get(id);
    if (!placed) return false;
    this.letGo(placed);
    this.free(placed);
    return true;
  }

  /** Takes slots for a run that holds them already: it was placed by a server before this one. */
  hold(placed: Placed): void {
    this.held.set(placed.run.id, placed);
    this.cards.add(placed);
    if (placed.worker !== LOCAL) return;
    this.here += 1;
    if (placed.run.alone) this.aloneHere += 1;
  }

  /** Lets a placed run wait again, as it waited before, and frees what it held. @returns whether it was placed */
  giveBack(id: string): boolean {
    const placed = this.held.get(id);
    if (!placed) return false;
    this.release(id);
    this.submit(placed.run);
    return true;
  }

  /**
   * Lets a placed run wait again, while what it held stays taken until the answer is called: its worker may be about to execute it. Until then
   * the run itself takes none of those devices either.
   *
   * @returns its worker, and what frees the slots, once; null when it was not placed
   */
  fence(id: string): { readonly worker: string; readonly lift: () => void } | null {
    const placed = this.held.get(id);
    if (!placed) return null;
    this.letGo(placed);
    this.fences.add(placed);
    this.submit(placed.run);
    return {
      worker: placed.worker,
      lift: () => {
        if (this.fences.delete(placed)) this.free(placed);
      },
    };
  }

  usage(slot: Slot): SlotUsage {
    return this.cards.usage(slot);
  }

  workerChanged(worker: WorkerState): void {
    const concerned = this.machines.change(worker);
    if (!concerned) return;
    for (const card of concerned) this.touchCard(card);
    this.touchMachine(worker.id);
  }

  /** A draining machine gets no new runs; those it has go on. */
  drain(worker: string, on: boolean): void {
    if (!this.machines.drain(worker, on)) return;
    // What it reserved, and whether the server is the only one left, is another matter now.
    for (const card of this.machines.cardsOf(worker)) this.touchCard(card);
    this.touchMachine(worker);
  }

  limits(limits: SlotLimits): void {
    this.cards.limitBy(limits);
    for (const queue of this.queues.values()) this.lookAgain(queue);
  }

  /** Places the oldest front that fits and takes its slots; null when none does. */
  next(): Placed | null {
    for (let queue = this.due.take(); queue; queue = this.due.take()) {
      const run = queue.shown;
      if (!run) continue;
      const slots = run.worker === ANY ? this.anywhere(queue, run) : this.there(run);
      if (slots) return this.place(run, slots);
    }
    return null;
  }

  /** Why a waiting run waits, when the reason is more than a busy slot or its turn. */
  reason(id: string): Reason | null {
    const run = this.waiting.get(id);
    if (!run) return null;
    const obstacle = run.worker === ANY ? this.machines.obstacleAnywhere(run) : this.machines.obstacle(run);
    return obstacle ?? this.gate(run);
  }

  /** From 1, in the run's own queue; null when it does not wait or is too far back. */
  position(id: string): number | null {
    const run = this.waiting.get(id);
    return (run && this.queues.get(run.queueKey)?.runs.position(run)) ?? null;
  }

  /** The run as it waits; null when it does not. */
  waits(id: string): WaitingRun | null {
    return this.waiting.get(id) ?? null;
  }

  /** Runs that wait, by queue key. */
  depths(): ReadonlyMap<string, number> {
    return new Map([...this.queues].map(([key, queue]) => [key, queue.size]));
  }

  /** Slots for a run on the machine that it asked for. */
  private there(run: WaitingRun): readonly Slot[] | null {
    return this.machines.obstacle(run) ? null : this.slotsOn(run.worker, run);
  }

  /** Slots for a run that takes any machine: the first that has room in the order of names, the server last. */
  private anywhere(queue: WaitingQueue, run: WaitingRun): readonly Slot[] | null {
    // A run that comes back, or was moved, may find room where a younger one did not: reservations count against the younger only.
    if (run.queueSeq < queue.askedFor) queue.candidates = [...this.machines.names];
    queue.askedFor = run.queueSeq;
    const { candidates } = queue;
    let found: readonly Slot[] | null = null;
    let kept = 0;
    let index = 0;
    for (; index < candidates.length && !found; index++) {
      const name = candidates[index]!;
      const worker = this.cards.worker(name);
      if (!worker || !this.machines.isOpen(worker) || worker.complete === false || !offers(worker, run)) continue;
      found = canServe(worker, run) ? this.slotsOn(name, run) : null;
      // Room that is there, but not for this run, may do for the next one.
      const mayServeOthers = found !== null || !canServe(worker, run) || this.fences.isFenced(run.id);
      if (mayServeOthers) candidates[kept++] = name;
    }
    candidates.splice(kept, index - kept);
    if (found) return found;
    const server = this.cards.worker(LOCAL);
    return server && this.machines.isOpen(server) && canServe(server, run) ? this.slotsOn(LOCAL, run) : null;
  }

  /** What the run would hold on that machine; null when it has no room for it now. */
  private slotsOn(worker: string, run: WaitingRun): readonly Slot[] | null {
    if (worker === LOCAL && !(this.gateIsOpen(run) && this.keptFreeFor(run) === null)) return null;
    const fenced = this.fences.isFenced(run.id) ? this.fences.cards(run.id, this.cards) : null;
    const hasRoom = (slot: Slot): boolean => !fenced?.has(this.cards.cardOf(slot)) && this.hasRoom(run, slot);
    const { devices, kind } = run;
    if (kind === undefined) {
      const slots = devices.map((device) => ({ worker, device }));
      return slots.every(hasRoom) ? slots : null;
    }
    const offered = this.cards.worker(worker)?.devices ?? [];
    const device = offered.find((one) => kindOf(one) === kind && hasRoom({ worker, device: one }));
    return device === undefined ? null : [{ worker, device }];
  }

  /** Of a front that the gate of seeded runs keeps waiting; `run_id` is the run it waits for, none when it is the one with the seed. */
  private gate(run: WaitingRun): Reason | null {
    const isFront = this.queues.get(run.queueKey)?.front === run;
    if (!isFront || !this.comesHere(run)) return null;
    const kept = this.keptFreeFor(run);
    if (kept !== null || this.aloneHere > 0) {
      const alone = [...this.held.values()].find(({ worker, run: held }) => worker === LOCAL && held.alone);
      return reasonOf('seeded_run', { run_id: alone?.run.id ?? kept?.id });
    }
    return run.alone && this.here > 0 ? reasonOf('seeded_run') : null;
  }

  /** Whether the run can start on the server only. */
  private comesHere(run: WaitingRun): boolean {
    return run.worker === LOCAL || (run.worker === ANY && this.machines.leaveOnlyTheServer(run));
  }

  /** Whether what runs on the server lets the run in, and it them. */
  private gateIsOpen({ alone }: WaitingRun): boolean {
    return (alone ? this.here : this.aloneHere) === 0;
  }

  /** The oldest of the runs before this one that keep the server free for themselves. */
  private keptFreeFor({ queueSeq }: WaitingRun): WaitingRun | null {
    let oldest: WaitingRun | null = null;
    for (const worker of [LOCAL, ANY]) {
      for (const { shown } of this.byWorker.get(worker) ?? []) {
        if (!shown?.alone || shown.queueSeq >= (oldest?.queueSeq ?? queueSeq)) continue;
        if (worker === ANY ? this.comesHere(shown) : !this.machines.obstacle(shown)) oldest = shown;
      }
    }
    return oldest;
  }

  private hasRoom({ queueSeq }: WaitingRun, slot: Slot): boolean {
    const card = this.cards.cardOf(slot);
    return this.cards.used(card) + this.reserved(card, queueSeq) < this.cards.limit(slot);
  }

  /** How many older sets wait for the physical device. */
  private reserved(card: string, before: number): number {
    let count = 0;
    const offerers = this.cards.offerersOf(card);
    for (const [index, { worker }] of offerers.entries()) {
      if (offerers.some((other, earlier) => earlier < index && other.worker === worker)) continue;
      for (const { shown } of this.byWorker.get(worker) ?? []) {
        if (!shown || shown.queueSeq >= before || shown.devices.length < 2 || this.machines.obstacle(shown)) continue;
        if (shown.devices.some((device) => this.cards.cardOf({ worker, device }) === card)) count += 1;
      }
    }
    return count;
  }

  private place(run: WaitingRun, slots: readonly Slot[]): Placed {
    this.remove(run.id);
    const identities = this.cards.identitiesOf(slots);
    const devices = slots.map(({ device }) => device);
    const worker = slots[0]?.worker ?? run.worker;
    const placed: Placed = { run, worker, devices, slots, ...(identities && { identities }) };
    this.hold(placed);
    return placed;
  }

  /** Among the others of the queue. */
  private indexBefore(run: WaitingRun, otherId: string, { runs }: WaitingQueue): number | null {
    const other = this.waiting.get(otherId);
    if (other?.queueKey !== run.queueKey) return null;
    const index = runs.indexOf(other);
    return runs.indexOf(run) < index ? index - 1 : index;
  }

  private letGo({ run, worker }: Placed): void {
    this.held.delete(run.id);
    if (worker !== LOCAL) return;
    this.here -= 1;
    if (run.alone) this.aloneHere -= 1;
    this.touch(LOCAL);
  }

  private free(placed: Placed): void {
    for (const card of this.cards.remove(placed)) this.touchCard(card);
  }

  /** Takes note of a front that is another one now. */
  private refresh(queue: WaitingQueue): void {
    const before = queue.shown;
    const now = queue.front ?? null;
    if (before === now) return;
    queue.shown = now;
    if (before) {
      const others = this.byWorker.get(before.worker);
      others?.delete(queue);
      if (others?.size === 0) this.byWorker.delete(before.worker);
      // What it kept from others is theirs again.
      if (before.alone) this.touch(LOCAL);
      if (before.devices.length > 1 && before.worker !== ANY) {
        for (const device of before.devices) this.touchCard(this.cards.cardOf({ worker: before.worker, device }));
      }
    }
    if (!now) return;
    let queues = this.byWorker.get(now.worker);
    if (!queues) this.byWorker.set(now.worker, (queues = new Set()));
    queues.add(queue);
    this.due.again(queue);
  }

  /** A physical device may have room. */
  private touchCard(card: string): void {
    for (const { worker } of this.cards.offerersOf(card)) this.touch(worker);
  }

  /** A machine is another one than it was. */
  private touchMachine(worker: string): void {
    this.touch(worker);
    if (worker !== LOCAL) this.touch(LOCAL);
  }

  /** A machine may have room. */
  private touch(worker: string): void {
    for (const queue of this.byWorker.get(worker) ?? []) this.due.add(queue);
    for (const queue of this.byWorker.get(ANY) ?? []) {
      if (worker !== LOCAL) enter(queue.candidates, worker);
      this.due.add(queue);
    }
  }

  private lookAgain(queue: WaitingQueue): void {
    if (queue.front?.worker === ANY) queue.candidates = [...this.machines.names];
    this.due.add(queue);
  }
}
