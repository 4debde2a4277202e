import type { Executor, Placement, RunEffect, RunEnd, RunInput, RunRecord, RunState } from '@cdui/execution';
import { Mailbox, QUEUED, reduceRun } from '@cdui/execution';
import type { GraphFile, Lane, RunOptions, RunStatus, WarningPayload } from '@cdui/protocol';
import type { WaitingRun } from '@cdui/scheduling';
import { LOCAL } from '@cdui/scheduling';
import { Backoff } from './backoff';
import { resumeFacts, resumeOf } from './resume';
import { RunAttempt } from './run-attempt';
import type { NodeProvenance, RunWorld } from './world';

/** A run that was accepted, and all that its execution needs. */
export interface AcceptedRun {
  readonly id: string;
  readonly lane: Lane;
  /** What the scheduler knows of it. */
  readonly waiting: WaitingRun;
  readonly options: RunOptions;
  /** What it says of itself when it begins. */
  readonly warnings: readonly WarningPayload[];
  readonly provenance: readonly NodeProvenance[] | null;
  /** Of all nodes that will execute; null for a run of this server. */
  readonly nodeTypes: readonly string[] | null;
  /** Of this server; workers have one of their own. */
  readonly executor: Executor;
}

/** What a run asks of those around it. */
export interface RunKeeper {
  graph(run: AcceptedRun): Promise<GraphFile>;
  /** It waits no more. */
  withdraw(run: AcceptedRun): void;
  /** Frees what it holds and lets the next ones start. */
  release(run: AcceptedRun): void;
  /**
   * Lets it wait again at its old place: it could not be started now.
   *
   * @param why storage did not work; its worker will not start it; or its worker was told to start it and may still try
   */
  requeue(live: LiveRun, why: RequeueReason): void;
  /** A run was started: storage works. */
  began(): void;
  /** Its row says something else. */
  changed(id: string): void;
  /** It has ended, or is lost: nothing more will come of it. */
  gone(live: LiveRun): void;
  /** Whether the server will not wait any longer for what cannot be stored. */
  givesUp(): boolean;
}

export type RequeueReason = 'not_stored' | 'returned' | 'unanswered';

type End = Extract<RunEffect, { do: 'end' }>;

/** How long until it is tried again to store that a worker is away, or back. */
const MARK_AGAIN_MS = 1_000;

/** One run on its way: its inputs, one at a time, and the effects that `reduceRun` answers with. Nobody else changes its row. */
export class LiveRun {
  /** What its row says. */
  status: RunStatus = 'queued';
  /** Resolves when the row says how the run ended; rejects when that could not be stored at the first try. */
  readonly filed: Promise<void>;
  /** Resolves when it is known whether the run started. */
  readonly started: Promise<void>;
  private settleFiled!: { readonly resolve: () => void; readonly reject: (error: unknown) => void };
  private settleStarted!: () => void;
  private state: RunState = QUEUED;
  private readonly mailbox = new Mailbox<RunInput>((input) => this.handle(input));
  private placement: Placement | null = null;
  private startedAt = 0;
  /** When its graph began to execute under an earlier server; null otherwise. */
  private beganAt: number | null = null;
  /** How many times it was placed. */
  private attempts = 0;
  private attempt: RunAttempt | null = null;
  /** What its row is to say of its worker. */
  private wanted: 'running' | 'disconnected' = 'running';
  /** The newest frame of it that an earlier server stored. */
  private recordedSeq = 0;

  constructor(
    readonly run: AcceptedRun,
    private readonly world: RunWorld,
    private readonly keeper: RunKeeper,
    left: RunRecord | null = null,
  ) {
    if (left) this.leave(left);
    this.filed = new Promise((resolve, reject) => (this.settleFiled = { resolve, reject }));
    this.started = new Promise((resolve) => (this.settleStarted = resolve));
    // Mostly nobody waits for it.
    this.filed.catch(() => undefined);
  }

  get id(): string {
    return this.run.id;
  }

  get at(): RunState['at'] {
    return this.state.at;
  }

  post(input: RunInput): void {
    this.mailbox.post(input);
  }

  place(placement: Placement): void {
    this.placement = placement;
    this.post({ type: 'placed', local: placement.worker === LOCAL });
  }

  /** @returns whether this request is why it stops */
  cancel(): boolean {
    const before = this.state;
    this.post({ type: 'cancel', reason: 'user' });
    return this.state !== before;
  }

  /** Whether it goes on without this server. */
  get isElsewhere(): boolean {
    const { state } = this;
    return state.at === 'disconnected' || (state.at === 'running' && !state.local);
  }

  /** Resolves when what it was told so far is stored. */
  async untilStored(): Promise<void> {
    await this.mailbox.idle();
  }

  /** Takes it as an earlier server left it. */
  private leave(record: RunRecord): void {
    this.status = record.status;
    this.startedAt = record.startedAt ?? 0;
    this.recordedSeq = record.recordedSeq;
    if (record.status === 'queued') return;
    const resume = resumeOf(record);
    this.beganAt = resume?.beganAt ?? null;
    this.attempts = resume?.attempt ?? 0;
    this.placement = resume?.placement ?? null;
    this.state = {
      at: 'running',
      local: resume === null,
      started: resume === null || record.recordedSeq > 0,
      stop: null,
    };
  }

  /** What it holds; nothing on the canvas. */
  private get where(): Placement {
    return this.placement ?? { worker: LOCAL, devices: this.run.waiting.devices, slots: [] };
  }

  private handle(input: RunInput): void | Promise<void> {
    const { state, effects } = reduceRun(this.state, input);
    this.state = state;
    return this.perform(effects);
  }

  private perform(effects: readonly RunEffect[]): void | Promise<void> {
    for (const [index, effect] of effects.entries()) {
      const pending = this.effect(effect);
      if (pending) return pending.then(() => this.perform(effects.slice(index + 1)));
    }
  }

  private effect(effect: RunEffect): void | Promise<void> {
    switch (effect.do) {
      case 'commit_running':
        void this.commitRunning();
        return;
      case 'execute':
        this.tryOnce().execute(() => this.keeper.graph(this.run));
        return;
      case 'adopt':
        this.tryOnce().adopt(this.recordedSeq);
        return;
      case 'abort':
        this.attempt?.abort(effect.reason);
        return;
      case 'mark':
        return this.mark(effect);
      case 'requeue':
        return this.requeue(effect.uncommit);
      case 'end':
        return this.file(effect);
      case 'forget':
        this.forget();
        return;
    }
  }

  private async commitRunning(): Promise<void> {
    const { world, where: placement } = this;
    const { worker, devices } = placement;
    const at = world.clock.now();
    const attempt = ++this.attempts;
    let input: RunInput;
    try {
      const facts = worker === LOCAL ? {} : { workerId: worker, facts: resumeFacts({ attempt, placement }) };
      const waited = await world.store.start(this.id, { at, workerId: null, devices, ...facts });
      input = { type: waited ? 'committed' : 'row_lost' };
      if (waited) {
        this.become('running', at);
        this.keeper.began();
      }
    } catch (error) {
      world.report(`Run ${this.id} could not be marked as running`, error);
      input = { type: 'commit_failed' };
    }
    this.post(input);
    this.settleStarted();
  }

  private become(status: RunStatus, startedAt = this.startedAt): void {
    this.status = status;
    this.startedAt = startedAt;
    this.keeper.changed(this.id);
  }

  private tryOnce(): RunAttempt {
    const { run, world, startedAt } = this;
    this.attempt = new RunAttempt({
      ...{ run, world, startedAt, attempt: this.attempts, placement: this.where },
      ...(this.beganAt !== null && { beganAt: this.beganAt }),
      post: (input) => this.post(input),
    });
    return this.attempt;
  }

  private async mark({ status }: Extract<RunEffect, { do: 'mark' }>): Promise<void> {
    this.wanted = status;
    await this.tryToMark(status);
  }

  /** What goes on is right, only what the row says of it is late when it cannot be stored: it is tried again until it is past. */
  private async tryToMark(status: 'running' | 'disconnected'): Promise<void> {
    const { world } = this;
    try {
      if (await world.store.mark(this.id, status)) this.become(status);
      else this.post({ type: 'row_lost' });
    } catch (error) {
      world.report(`Run ${this.id} could not be marked as ${status}`, error);
      world.clock.after(MARK_AGAIN_MS, () => {
        const is = this.state.at === 'running' || this.state.at === 'disconnected';
        if (is && this.wanted === status && !this.keeper.givesUp()) void this.tryToMark(status);
      });
    }
  }

  private requeue(uncommit: boolean): void | Promise<void> {
    if (uncommit) return this.uncommit();
    this.placement = null;
    this.keeper.requeue(this, 'not_stored');
  }

  /** Tries until the row says so: while it says `running`, nothing may hold the run. */
  private async uncommit(): Promise<void> {
    const { world, keeper } = this;
    const backoff = new Backoff(world.clock);
    for (;;) {
      try {
        if (!(await world.store.requeue(this.id))) {
          this.post({ type: 'row_lost' });
          return;
        }
        break;
      } catch (error) {
        world.report(`Run ${this.id} could not be put back into the queue`, error);
        if (keeper.givesUp()) return;
        await backoff.pause();
      }
    }
    const why = this.attempt?.unanswered ? 'unanswered' : 'returned';
    this.placement = null;
    this.attempt = null;
    this.beganAt = null;
    this.become('queued');
    keeper.requeue(this, why);
  }

  /** Row and last event in one commit; then the slots; then the event is made known. */
  private async file({ from, end }: End): Promise<void> {
    const { world, keeper, run } = this;
    keeper.withdraw(run);
    // One that was cut off goes on until it hears of it: what it holds is in use, and it may still report.
    await this.attempt?.over;
    this.attempt?.storeFacts();
    const filed = await this.storeEnd(from, end);
    if (filed === null) {
      this.forget();
      return;
    }
    this.status = end.status;
    keeper.release(run);
    world.log.publishEnd(run.id, filed.cursor, end.event, filed.at);
    this.attempt?.filed();
    keeper.changed(run.id);
    this.settle();
    keeper.gone(this);
  }

  /** Tries until it is stored: a full disk may have room again. @returns null when the row is no longer this run's */
  private async storeEnd(
    from: End['from'],
    end: RunEnd,
  ): Promise<{ readonly cursor: number; readonly at: number } | null> {
    const backoff = new Backoff(this.world.clock);
    for (;;) {
      const at = Math.max(this.world.clock.now(), this.startedAt);
      try {
        const cursor = await this.world.store.end(this.id, from, end, at, this.attempt?.endSeq);
        return cursor === null ? null : { cursor, at };
      } catch (error) {
        this.world.report(`The end of run ${this.id} could not be stored`, error);
        this.settleFiled.reject(error);
        if (this.keeper.givesUp()) return null;
        await backoff.pause();
      }
    }
  }

  private forget(): void {
    this.state = { at: 'gone' };
    this.keeper.withdraw(this.run);
    this.keeper.release(this.run);
    this.world.log.forget(this.id);
    this.settle();
    this.keeper.gone(this);
  }

  private settle(): void {
    this.settleFiled.resolve();
    this.settleStarted();
  }
}
