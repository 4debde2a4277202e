import type { Reason } from '@cdui/protocol';
import { reasonOf } from '@cdui/protocol';
import type { Queued } from './run-queue';
import { RunQueue } from './run-queue';
import { SlotLimits } from './slot-limits';
import type { Slot } from './slots';
import { SlotCounts, slotKey } from './slots';

/** The server itself, among the workers. */
export const LOCAL = 'local';

/** A run that waits, and what it asks for. */
export interface WaitingRun extends Queued {
  readonly worker: string;
  /** Takes all of them in one step; executes on the first. */
  readonly devices: readonly string[];
  /** Any one device of this kind will do, such as `cuda`; `devices` is empty then. */
  readonly kind?: string;
  /** Whether nothing else may run on its machine meanwhile: the gate of seeded runs. */
  readonly alone?: boolean;
}

/** Where a run executes and what it holds there until it is released. */
export interface Placed {
  readonly run: WaitingRun;
  readonly worker: string;
  readonly devices: readonly string[];
  readonly slots: readonly Slot[];
}

/** A machine that runs can be placed on. */
export interface WorkerState {
  readonly id: string;
  readonly online: boolean;
  readonly devices: readonly string[];
}

/**
 * Who may start next: a pure state in memory. Every waiting run stands in one first-in-first-out queue by its key; the oldest front of all
 * queues that fits is placed, one at a time, and its slots are taken in that moment.
 *
 * A front that needs several slots reserves those it cannot have yet: later fronts count a reservation as if the run were there, so that
 * steady traffic on one of its devices cannot starve it. Reservations follow the order of submission, so two sets never wait for each other.
 * A front that must be alone keeps its whole machine free in the same way, until what runs there is over.
 */
export class SchedulerState {
  private readonly queues = new Map<string, RunQueue<WaitingRun>>();
  private readonly waiting = new Map<string, WaitingRun>();
  private readonly held = new Map<string, Placed>();
  /** Slots of runs that returned from a worker which may still be about to execute them. */
  private readonly fenced = new Set<Placed>();
  private readonly used = new SlotCounts();
  private readonly workers = new Map<string, WorkerState>();
  private readonly draining = new Set<string>();
  private slotLimits = new SlotLimits();

  /** Lets the run wait. A run that returns keeps its `queueSeq`, and with it its place. */
  submit(run: WaitingRun): void {
    this.waiting.set(run.id, run);
    const queue = this.queues.get(run.queueKey) ?? new RunQueue();
    this.queues.set(run.queueKey, queue);
    queue.add(run);
  }

  /** Takes a waiting run out. @returns whether it waited */
  remove(id: string): boolean {
    const run = this.waiting.get(id);
    if (!run) return false;
    this.waiting.delete(id);
    const queue = this.queues.get(run.queueKey);
    queue?.remove(id);
    if (queue?.size === 0) this.queues.delete(run.queueKey);
    return true;
  }

  /** Frees the slots of a placed run, once. @returns whether it held any */
  release(id: string): boolean {
    const placed = this.held.get(id);
    if (!placed) return false;
    this.held.delete(id);
    this.used.remove(placed.slots);
    return true;
  }

  /** Takes slots for a run that holds them already: it was placed by a server before this one. */
  hold(placed: Placed): void {
    this.held.set(placed.run.id, placed);
    this.used.add(placed.slots);
  }

  /**
   * Lets a placed run wait again, while what it held stays taken until the answer is called: its worker may be about to execute it. Until then
   * the run itself takes none of those slots either.
   *
   * @returns frees the slots, once
   */
  fence(id: string): () => void {
    const placed = this.held.get(id);
    if (!placed) return () => undefined;
    this.held.delete(id);
    this.fenced.add(placed);
    this.submit(placed.run);
    return () => {
      if (this.fenced.delete(placed)) this.used.remove(placed.slots);
    };
  }

  /** How many runs a slot holds, and how many it admits. */
  usage(slot: Slot): { readonly used: number; readonly limit: number } {
    return { used: this.used.of(slot), limit: this.slotLimits.of(slot) };
  }

  workerChanged(worker: WorkerState): void {
    this.workers.set(worker.id, worker);
  }

  /** A draining machine gets no new runs; those it has go on. */
  drain(worker: string, on: boolean): void {
    if (on) this.draining.add(worker);
    else this.draining.delete(worker);
  }

  limits(limits: SlotLimits): void {
    this.slotLimits = limits;
  }

  /** Places the oldest front that fits and takes its slots; null when none does. */
  next(): Placed | null {
    const reserved = new SlotCounts();
    const keptFree = new Set<string>();
    for (const run of this.fronts()) {
      if (this.obstacle(run)) continue;
      const admitted = !keptFree.has(run.worker) && this.gateIsOpen(run);
      const choices = this.choices(run);
      const slots = admitted && choices.find((some) => some.every((slot) => this.hasRoom(run, slot, reserved)));
      if (slots) return this.place(run, slots);
      if (run.alone) keptFree.add(run.worker);
      else if (run.devices.length > 1) reserved.add(choices[0] ?? []);
    }
    return null;
  }

  /** The sets of slots that would do, the best first. */
  private choices({ worker, devices, kind }: WaitingRun): readonly (readonly Slot[])[] {
    if (kind === undefined) return [devices.map((device) => ({ worker, device }))];
    return this.ofKind(worker, kind).map((device) => [{ worker, device }]);
  }

  private ofKind(worker: string, kind: string): readonly string[] {
    return (this.workers.get(worker)?.devices ?? []).filter((device) => device.split(':')[0] === kind);
  }

  /** Why a waiting run waits, when the reason is more than a busy slot or its turn. */
  reason(id: string): Reason | null {
    const run = this.waiting.get(id);
    return run ? (this.obstacle(run) ?? this.gate(run)) : null;
  }

  /** From 1, in the run's own queue; null when it does not wait or is too far back. */
  position(id: string): number | null {
    const run = this.waiting.get(id);
    return (run && this.queues.get(run.queueKey)?.position(id)) ?? null;
  }

  /** Runs that wait, by queue key. */
  depths(): ReadonlyMap<string, number> {
    return new Map([...this.queues].map(([key, queue]) => [key, queue.size]));
  }

  private fronts(): readonly WaitingRun[] {
    const fronts = [...this.queues.values()].flatMap(({ front }) => front ?? []);
    return fronts.sort((a, b) => a.queueSeq - b.queueSeq);
  }

  /** Of a front that the gate of seeded runs keeps waiting; `run_id` is the run it waits for, none when it is the one with the seed. */
  private gate(run: WaitingRun): Reason | null {
    const fronts = this.fronts();
    if (!fronts.includes(run)) return null;
    const held = [...this.held.values()].filter(({ worker }) => worker === run.worker).map((placed) => placed.run);
    const before = fronts.filter(
      (other) => other.worker === run.worker && other.queueSeq < run.queueSeq && !this.obstacle(other),
    );
    const alone = [...held, ...before].find((other) => other.alone);
    if (alone) return reasonOf('seeded_run', { run_id: alone.id });
    return run.alone && held.length > 0 ? reasonOf('seeded_run') : null;
  }

  /** Whether what runs on its machine lets the run in, and it them. */
  private gateIsOpen({ worker, alone }: WaitingRun): boolean {
    for (const placed of this.held.values()) {
      if (placed.worker === worker && (alone || placed.run.alone)) return false;
    }
    return true;
  }

  private hasRoom({ id }: WaitingRun, slot: Slot, reserved: SlotCounts): boolean {
    for (const { run, slots } of this.fenced) {
      if (run.id === id && slots.some((held) => slotKey(held) === slotKey(slot))) return false;
    }
    return this.used.of(slot) + reserved.of(slot) < this.slotLimits.of(slot);
  }

  private place(run: WaitingRun, slots: readonly Slot[]): Placed {
    this.remove(run.id);
    const placed: Placed = { run, worker: run.worker, devices: slots.map(({ device }) => device), slots };
    this.held.set(run.id, placed);
    this.used.add(slots);
    return placed;
  }

  /** What keeps the run from its machine whatever slots are free. */
  private obstacle({ worker, devices, kind }: WaitingRun): Reason | null {
    const state = this.workers.get(worker);
    if (this.draining.has(worker)) {
      return worker === LOCAL ? reasonOf('server_draining') : reasonOf('worker_draining', { worker });
    }
    if (!state?.online) return reasonOf('worker_offline', { worker });
    if (kind !== undefined) {
      return this.ofKind(worker, kind).length > 0 ? null : reasonOf('no_worker_offers', { devices: [kind] });
    }
    if (devices.every((device) => state.devices.includes(device))) return null;
    return reasonOf('no_worker_offers', { devices });
  }
}
