import type { Reason } from '@cdui/protocol';
import { reasonOf } from '@cdui/protocol';
import { Cards } from './cards';
import { canServe, LOCAL, offers, type WaitingRun, type WorkerState } from './requests';

/** The machines that runs can be placed on, and what keeps a run from them whatever is free there. */
export class Machines {
  readonly cards = new Cards();
  /** Of all but the server, in order. */
  readonly names: string[] = [];
  private readonly draining = new Set<string>();

  /** @returns the physical devices that this is about; null when it is nothing new */
  change(worker: WorkerState): readonly string[] | null {
    const before = this.cards.worker(worker.id);
    if (before !== undefined && isSame(before, worker)) return null;
    if (before === undefined && worker.id !== LOCAL) enter(this.names, worker.id);
    return this.cards.change(worker);
  }

  /** @returns whether it is another thing now */
  drain(worker: string, on: boolean): boolean {
    if (this.draining.has(worker) === on) return false;
    if (on) this.draining.add(worker);
    else this.draining.delete(worker);
    return true;
  }

  cardsOf(worker: string): readonly string[] {
    return (this.cards.worker(worker)?.devices ?? []).map((device) => this.cards.cardOf({ worker, device }));
  }

  isOpen({ id, online }: WorkerState): boolean {
    return online && !this.draining.has(id);
  }

  /** Whether the server is the only machine now that a run which takes any could come to. */
  leaveOnlyTheServer(run: WaitingRun): boolean {
    const server = this.cards.worker(LOCAL);
    if (!server || !this.isOpen(server) || !canServe(server, run)) return false;
    return !this.names.some((name) => this.couldCome(this.cards.worker(name), run));
  }

  private couldCome(worker: WorkerState | undefined, run: WaitingRun): boolean {
    return worker !== undefined && this.isOpen(worker) && worker.complete !== false && canServe(worker, run);
  }

  /** What keeps the run from its machine whatever slots are free. */
  obstacle(run: WaitingRun): Reason | null {
    const { worker } = run;
    const state = this.cards.worker(worker);
    if (this.draining.has(worker)) {
      return worker === LOCAL ? reasonOf('server_draining') : reasonOf('worker_draining', { worker });
    }
    if (!state?.online) return reasonOf('worker_offline', { worker });
    return offers(state, run) ? null : reasonOf('no_worker_offers', { devices: asked(run) });
  }

  obstacleAnywhere(run: WaitingRun): Reason | null {
    const workers: string[] = [];
    for (const name of [...this.names, LOCAL]) {
      const worker = this.cards.worker(name);
      if (!worker?.online || worker.complete === false || !canServe(worker, run)) continue;
      if (!this.draining.has(name)) return null;
      workers.push(name);
    }
    const devices = asked(run);
    return workers.length > 0
      ? reasonOf('only_draining_workers', { devices, workers })
      : reasonOf('no_worker_offers', { devices });
  }
}

function asked({ devices, kind }: WaitingRun): readonly string[] {
  return kind === undefined ? devices : [kind];
}

function isSame(a: WorkerState, b: WorkerState): boolean {
  const flags = a.online === b.online && a.sameHost === b.sameHost && a.complete === b.complete;
  return (
    flags &&
    isSameList(a.devices, b.devices) &&
    isSameList(a.capabilities ?? [], b.capabilities ?? []) &&
    b.devices.every((device) => a.identities?.[device] === b.identities?.[device])
  );
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((one, index) => one === b[index]));
}

/** Puts a name into a list in alphabetical order, once. */
export function enter(names: string[], name: string): void {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (names[middle]! < name) low = middle + 1;
    else high = middle;
  }
  if (names[low] !== name) names.splice(low, 0, name);
}
