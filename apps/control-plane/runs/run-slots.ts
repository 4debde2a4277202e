import type { Clock } from '@cdui/execution';
import type { Reason } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import type { Placed } from '@cdui/scheduling';
import { InteractiveLimits, LOCAL, SchedulerState, SlotLimits } from '@cdui/scheduling';
import { Backoff } from './backoff';
import type { AcceptedRun } from './live-run';
import type { RunLimits } from './world';

/** Who waits, who holds what, and who may start: the pure scheduler with a clock beside it. */
export class RunSlots {
  private readonly scheduler = new SchedulerState();
  private readonly interactive: InteractiveLimits;
  private readonly backoff: Backoff;
  private resume: (() => void) | null = null;

  /** @param start begins a run whose slots were taken */
  constructor(
    private readonly clock: Clock,
    limits: RunLimits,
    devices: readonly string[],
    private readonly start: (placed: Placed) => void,
  ) {
    this.scheduler.limits(new SlotLimits(limits.slots));
    this.scheduler.workerChanged({ id: LOCAL, online: true, devices });
    this.interactive = new InteractiveLimits(limits.interactive);
    this.backoff = new Backoff(clock);
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
  giveBack({ id, waiting }: AcceptedRun): void {
    this.scheduler.release(id);
    this.scheduler.submit(waiting);
    this.resume ??= this.clock.after(this.backoff.take(), () => {
      this.resume = null;
      this.dispatch();
    });
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
    this.scheduler.drain(LOCAL, true);
    this.resume?.();
    this.resume = null;
  }

  private dispatch(): void {
    if (this.resume !== null) return;
    for (let placed = this.scheduler.next(); placed; placed = this.scheduler.next()) this.start(placed);
  }
}
