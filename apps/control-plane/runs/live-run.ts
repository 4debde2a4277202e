import type {
  ExecutionOutcome,
  Executor,
  Placement,
  RunEffect,
  RunEnd,
  RunInput,
  RunRecord,
  RunState,
} from '@cdui/execution';
import { Mailbox, QUEUED, reduceRun } from '@cdui/execution';
import type { GraphFile, Lane, RunOptions, RunStatus, WarningPayload } from '@cdui/protocol';
import type { WaitingRun } from '@cdui/scheduling';
import { LOCAL } from '@cdui/scheduling';
import type { RunRecorder } from '../events/event-log';
import { Backoff } from './backoff';
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
  readonly executor: Executor;
}

/** What a run asks of those around it. */
export interface RunKeeper {
  graph(run: AcceptedRun): Promise<GraphFile>;
  /** It waits no more. */
  withdraw(run: AcceptedRun): void;
  /** Frees what it holds and lets the next ones start. */
  release(run: AcceptedRun): void;
  /** Frees what it holds and lets it wait again at its old place; it could not be started now. */
  requeue(live: LiveRun): void;
  /** Its row says something else. */
  changed(id: string): void;
  /** It has ended, or is lost: nothing more will come of it. */
  gone(live: LiveRun): void;
  /** Whether the server will not wait any longer for what cannot be stored. */
  givesUp(): boolean;
}

type End = Extract<RunEffect, { do: 'end' }>;

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
  private readonly stop = new AbortController();
  private executing: Promise<void> | null = null;
  private recorder: RunRecorder | null = null;
  private closing: Promise<void> | null = null;
  private outcome: ExecutionOutcome | null = null;

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

  /** Takes it as an earlier server left it. */
  private leave({ status, startedAt, workerId }: RunRecord): void {
    this.status = status;
    this.startedAt = startedAt ?? 0;
    if (status === 'queued') return;
    const local = workerId === null;
    this.state = { at: 'running', local, started: true, stop: null };
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
        this.executing = this.execute();
        return;
      case 'adopt':
        this.executing = this.adopt();
        return;
      case 'record_start':
        this.recordStart();
        return;
      case 'abort':
        this.stop.abort(effect.reason);
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
    const { world, placement } = this;
    const at = world.clock.now();
    const worker = placement?.worker ?? LOCAL;
    let input: RunInput;
    try {
      const start = { at, workerId: worker === LOCAL ? null : worker, devices: placement?.devices ?? [] };
      const waited = await world.store.start(this.id, start);
      input = { type: waited ? 'committed' : 'row_lost' };
      if (waited) this.become('running', at);
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

  private async execute(): Promise<void> {
    const { run, world } = this;
    try {
      const graph = await this.keeper.graph(run);
      const sinks = await this.record();
      this.storeProvenance();
      this.outcome = await run.executor.run({
        kind: 'start',
        runId: run.id,
        graph,
        options: run.options,
        placement: this.placement ?? { worker: LOCAL, devices: run.waiting.devices, slots: [] },
        folders: world.files.folders(run.id),
        sinks,
        signal: this.stop.signal,
      });
    } catch (error) {
      world.report(`Run ${run.id} could not be executed`, error);
    }
    await this.ended();
  }

  private async adopt(): Promise<void> {
    const { run, world } = this;
    try {
      const record = await world.store.get(run.id);
      this.outcome = await run.executor.run({
        kind: 'adopt',
        runId: run.id,
        resume: record?.facts ?? {},
        placement: this.placement ?? { worker: LOCAL, devices: run.waiting.devices, slots: [] },
        sinks: await this.record(),
        signal: this.stop.signal,
      });
    } catch (error) {
      world.report(`Run ${run.id} could not be taken over`, error);
    }
    await this.ended();
  }

  private async record(): Promise<RunRecorder> {
    this.recorder = await this.world.log.open({
      runId: this.id,
      startedAt: this.startedAt,
      onStarted: () => this.post({ type: 'started' }),
      onFailed: (reason) => this.post({ type: 'storage_failed', reason }),
    });
    return this.recorder;
  }

  /** All that it reported is durable, or has failed, before anybody hears that it is over. */
  private async ended(): Promise<void> {
    await this.closeRecorder();
    this.post(this.outcome ? { type: 'finished', outcome: this.outcome } : { type: 'executor_error' });
  }

  private closeRecorder(): Promise<void> {
    this.closing ??= this.recorder?.close() ?? Promise.resolve();
    return this.closing;
  }

  private recordStart(): void {
    this.recorder?.recordStart();
    for (const warning of this.run.warnings) this.recorder?.recordWarning(warning);
  }

  private async mark({ from, status }: Extract<RunEffect, { do: 'mark' }>): Promise<void> {
    try {
      if (await this.world.store.mark(this.id, from, status)) this.become(status);
      else this.post({ type: 'row_lost' });
    } catch (error) {
      // What goes on is right, only what the row says of it is late: the next change sets it right.
      this.world.report(`Run ${this.id} could not be marked as ${status}`, error);
    }
  }

  private requeue(uncommit: boolean): void | Promise<void> {
    this.placement = null;
    if (!uncommit) {
      this.keeper.requeue(this);
      return;
    }
    return this.world.store.requeue(this.id).then(
      (was) => {
        if (!was) {
          this.post({ type: 'row_lost' });
          return;
        }
        this.become('queued');
        this.keeper.requeue(this);
      },
      (error: unknown) => {
        this.world.report(`Run ${this.id} could not be put back into the queue`, error);
        this.keeper.requeue(this);
      },
    );
  }

  /** Row and last event in one commit; then the slots; then the event is made known. */
  private async file({ from, end }: End): Promise<void> {
    const { world, keeper, run } = this;
    keeper.withdraw(run);
    // One that was cut off goes on until it hears of it: what it holds is in use, and it may still report.
    await this.executing;
    await this.closeRecorder();
    this.storeFacts();
    const filed = await this.storeEnd(from, end);
    if (filed === null) {
      this.forget();
      return;
    }
    this.status = end.status;
    keeper.release(run);
    world.log.publishEnd(run.id, filed.cursor, end.event, filed.at);
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
        const cursor = await this.world.store.end(this.id, from, end, at);
        return cursor === null ? null : { cursor, at };
      } catch (error) {
        this.world.report(`The end of run ${this.id} could not be stored`, error);
        this.settleFiled.reject(error);
        if (this.keeper.givesUp()) return null;
        await backoff.pause();
      }
    }
  }

  /** Goes into the same commit as the end. A run that never came to its executor has no facts. */
  private storeFacts(): void {
    const { world, outcome } = this;
    if (outcome === null) return;
    const facts = {
      ...outcome.facts,
      fingerprint_source: 'control-plane',
      peak_memory: outcome.peak_memory,
    };
    const fingerprint = world.machine.fingerprint(outcome.facts?.['runtime'] ?? null);
    void world.store
      .addFacts(this.id, facts, fingerprint)
      .catch((error: unknown) => world.report(`The facts of run ${this.id} could not be stored`, error));
  }

  private storeProvenance(): void {
    const { world, run } = this;
    if (run.provenance === null) return;
    void world.store
      .addProvenance(run.id, run.provenance)
      .catch((error: unknown) => world.report(`The provenance of run ${run.id} could not be stored`, error));
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
