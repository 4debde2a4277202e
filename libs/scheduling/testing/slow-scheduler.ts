import type { Placed, WaitingRun, WorkerState } from '../scheduler-state';
import type { SlotLimits } from '../slot-limits';

/** The same rules without any bookkeeping: everything is worked out anew from the list of runs, as the rules are written. */
export class SlowScheduler {
  waiting: WaitingRun[] = [];
  held: Placed[] = [];
  readonly workers = new Map<string, WorkerState>();
  readonly draining = new Set<string>();

  constructor(public limits: SlotLimits) {}

  used(worker: string, device: string): number {
    return this.held.flatMap(({ slots }) => slots).filter((slot) => slot.worker === worker && slot.device === device)
      .length;
  }

  inOrder(): WaitingRun[] {
    return [...this.waiting].sort((a, b) => a.queueSeq - b.queueSeq);
  }

  isFront(run: WaitingRun): boolean {
    return !this.waiting.some((other) => other.queueKey === run.queueKey && other.queueSeq < run.queueSeq);
  }

  canGo(run: WaitingRun): boolean {
    const worker = this.workers.get(run.worker);
    const offered = run.devices.every((device) => worker?.devices.includes(device));
    return worker?.online === true && !this.draining.has(run.worker) && offered;
  }

  /** Whether a run with a seed, this one or another, keeps a front waiting. */
  isGated(run: WaitingRun): boolean {
    const beside = this.held.filter((placed) => placed.worker === run.worker);
    return (
      (run.alone === true && beside.length > 0) ||
      beside.some((placed) => placed.run.alone) ||
      this.fronts().some((other) => other.alone && other.queueSeq < run.queueSeq && other.worker === run.worker)
    );
  }

  private fronts(): readonly WaitingRun[] {
    return this.inOrder().filter((run) => this.isFront(run) && this.canGo(run));
  }

  next(): Placed | null {
    const fronts = this.fronts();
    for (const run of fronts) {
      const room = (device: string): boolean => {
        const olderSets = fronts.filter(
          (other) =>
            other.queueSeq < run.queueSeq &&
            other.worker === run.worker &&
            other.devices.length > 1 &&
            other.devices.includes(device),
        );
        const limit = this.limits.of({ worker: run.worker, device });
        return this.used(run.worker, device) + olderSets.length < limit;
      };
      if (this.isGated(run) || !run.devices.every(room)) continue;
      const slots = run.devices.map((device) => ({ worker: run.worker, device }));
      const placed: Placed = { run, worker: run.worker, devices: run.devices, slots };
      this.waiting = this.waiting.filter((other) => other !== run);
      this.held.push(placed);
      return placed;
    }
    return null;
  }

  position(id: string): number | null {
    const run = this.waiting.find((other) => other.id === id);
    if (!run) return null;
    const ahead = this.waiting.filter((other) => other.queueKey === run.queueKey && other.queueSeq < run.queueSeq);
    return ahead.length < 1_000 ? ahead.length + 1 : null;
  }
}
