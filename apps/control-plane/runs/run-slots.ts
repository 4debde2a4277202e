import type { Clock, Placement } from '@cdui/execution';
import type { MoveTo, Reason } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import type { Placed, Slot, SlotUsage } from '@cdui/scheduling';
import { InteractiveLimits, LOCAL, SchedulerState, SlotLimits } from '@cdui/scheduling';
import { Backoff } from './backoff';
import type { AcceptedRun } from './live-run';
import { ServerCards } from './server-cards';
import type { KnownWorker, Machine, RunLimits, Workers } from './world';

/** Who waits, who holds what, and who may start: the pure scheduler with a clock beside it. */
export class RunSlots {
  private readonly scheduler = new SchedulerState();
  private readonly interactive: InteractiveLimits;
  private readonly backoff: Backoff;
  private readonly cards: ServerCards;
  private resume: (() => void) | null = null;
  private closed = false;
  /** Frees the slots that are kept from others until a worker says hello. */
  private readonly fences = new Map<string, Set<() => void>>();

  /** @param start begins a run whose slots were taken */
  constructor(
    private readonly clock: Clock,
    private readonly runLimits: RunLimits,
    machine: Pick<Machine, 'devices' | 'cards'>,
    workers: Workers,
    private readonly start: (placed: Placed) => void,
  ) {
    this.scheduler.limits(new SlotLimits(runLimits.slots));
    const { devices } = machine;
    this.scheduler.workerChanged({ id: LOCAL, online: true, devices });
    this.cards = new ServerCards(machine, (identities) => {
      this.scheduler.workerChanged({ id: LOCAL, online: true, devices, identities });
    });
    this.interactive = new InteractiveLimits(runLimits.interactive);
    this.backoff = new Backoff(clock);
    workers.watch((worker, hello) => this.workerChanged(worker, hello));
  }

  /** @throws CodedError `interactive_limit` */
  admit(runId: string, session: string | null): void {
    const refusal = this.interactive.admit(runId, session);
    if (refusal) throw new CodedError(refusal.code, refusal.message, refusal.params);
  }

  submit({ waiting }: AcceptedRun): void {
    this.scheduler.submit(waiting);
    this.dispatch();
  }

  withdraw({ id }: AcceptedRun): void {
    // The next in its queue may have waited behind this one only.
    if (this.scheduler.remove(id)) this.dispatch();
  }

  release({ id }: AcceptedRun): void {
    this.interactive.release(id);
    if (this.scheduler.release(id)) this.dispatch();
  }

  /** Takes back a run that could not be started. What keeps one from being started mostly keeps all, so that all wait a little. */
  giveBack({ id }: AcceptedRun): void {
    this.scheduler.giveBack(id);
    this.resume ??= this.clock.after(this.backoff.take(), () => {
      this.resume = null;
      this.dispatch();
    });
  }

  /** Takes back a run that its worker will not start: it is away or drained, which is known here already. */
  giveBackAtOnce({ id }: AcceptedRun): void {
    this.scheduler.giveBack(id);
    this.dispatch();
  }

  /** Takes back a run that a worker was told to start. What it held stays taken until that worker says hello, or nobody waits for it any more. */
  giveBackFenced({ id }: AcceptedRun): void {
    const fence = this.scheduler.fence(id);
    if (!fence) return;
    const fences = this.fences.get(fence.worker) ?? new Set();
    this.fences.set(fence.worker, fences);
    const lift = (): void => {
      cancel();
      fences.delete(lift);
      fence.lift();
    };
    const cancel = this.clock.after(this.runLimits.resumeGraceMs, () => {
      lift();
      this.dispatch();
    });
    fences.add(lift);
    this.dispatch();
  }

  /** Learns which cards the server has, before runs that may hold one of them are taken over. */
  async learnCards(): Promise<void> {
    await this.cards.learn();
  }

  /** A run that a server before this one placed holds what it got then. */
  hold({ waiting }: AcceptedRun, placement: Placement): void {
    this.scheduler.hold({ run: waiting, ...placement });
  }

  /** Lets a waiting run stand elsewhere in its queue. @returns as `SchedulerState.move` */
  move(id: string, to: MoveTo): boolean {
    const moved = this.scheduler.move(id, to);
    if (moved) this.dispatch();
    return moved;
  }

  /** The key of the queue in which it waits; null when it does not. */
  queueOf(id: string): string | null {
    return this.scheduler.waits(id)?.queueKey ?? null;
  }

  /** How many runs a slot's device holds, how many it admits, and who else offers it. */
  usage(slot: Slot): SlotUsage {
    return this.scheduler.usage(slot);
  }

  /** A run was started: storage works. */
  wentWell(): void {
    this.backoff.reset();
  }

  position(id: string): number | null {
    return this.scheduler.position(id);
  }

  /** Why it waits, when it is for more than a busy slot. */
  reason(id: string): Reason | null {
    return this.scheduler.reason(id);
  }

  /** Runs that wait, by queue key. */
  depths(): ReadonlyMap<string, number> {
    return this.scheduler.depths();
  }

  /** Nothing more is started. */
  close(): void {
    this.closed = true;
    this.scheduler.drain(LOCAL, true);
    this.resume?.();
    this.resume = null;
    for (const fences of this.fences.values()) for (const lift of [...fences]) lift();
  }

  private workerChanged(worker: KnownWorker, hello: boolean): void {
    this.take(worker);
    if (hello) for (const lift of [...(this.fences.get(worker.id) ?? [])]) lift();
    this.dispatch();
  }

  private take(worker: KnownWorker): void {
    const { id, online, draining, devices, identities, sameHost, complete, capabilities } = worker;
    // While nobody knows whether it offers a card of the server's own, nothing is placed there.
    const isKnown = !online || this.cards.knowsOf(worker, () => (this.take(worker), this.dispatch()));
    const features = { identities, sameHost, complete, capabilities };
    this.scheduler.workerChanged({ id, online: online && isKnown, devices, ...features });
    this.scheduler.drain(id, draining);
  }

  private dispatch(): void {
    if (this.resume !== null || this.closed) return;
    for (let placed = this.scheduler.next(); placed; placed = this.scheduler.next()) this.start(placed);
  }
}
