import type { Reason } from '@cdui/protocol';
import { reasonOf } from '@cdui/protocol';
import type { Queued } from './run-queue';
import { RunQueue } from './run-queue';
import { SlotLimits } from './slot-limits';
import type { Slot } from './slots';
import { SlotCounts } from './slots';

/** The server itself, among the workers. */
export const LOCAL = 'local';

/** A run that waits, and what it asks for. */
export interface WaitingRun extends Queued {
  readonly worker: string;
  /** Takes all of them in one step; executes on the first. */
  readonly devices: readonly string[];
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
      const slots = run.devices.map((device) => ({ worker: run.worker, device }));
      const admitted = !keptFree.has(run.worker) && this.gateIsOpen(run);
      if (admitted && slots.every((slot) => this.hasRoom(slot, reserved))) return this.place(run, slots);
      if (run.alone) keptFree.add(run.worker);
      else if (slots.length > 1) reserved.add(slots);
    }
    return null;
  }

  /** Why a waiting run waits, when the reason is more than a busy slot or its turn. */
  reason(id: string): Reason | null {
    const run = this.waiting.get(id);
    return run ? this.obstacle(run) : null;
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

  /** Whether what runs on its machine lets the run in, and it them. */
  private gateIsOpen({ worker, alone }: WaitingRun): boolean {
    for (const placed of this.held.values()) {
      if (placed.worker === worker && (alone || placed.run.alone)) return false;
    }
    return true;
  }

  private hasRoom(slot: Slot, reserved: SlotCounts): boolean {
    return this.used.of(slot) + reserved.of(slot) < this.slotLimits.of(slot);
  }

  private place(run: WaitingRun, slots: readonly Slot[]): Placed {
    this.remove(run.id);
    const placed: Placed = { run, worker: run.worker, devices: run.devices, slots };
    this.held.set(run.id, placed);
    this.used.add(slots);
    return placed;
  }

  /** What keeps the run from its machine whatever slots are free. */
  private obstacle({ worker, devices }: WaitingRun): Reason | null {
    const state = this.workers.get(worker);
    if (this.draining.has(worker)) {
      return worker === LOCAL ? reasonOf('server_draining') : reasonOf('worker_draining', { worker });
    }
    if (!state?.online) return reasonOf('worker_offline', { worker });
    if (devices.every((device) => state.devices.includes(device))) return null;
    return reasonOf('no_worker_offers', { devices });
  }
}
