import type { AckFrame, AssignFrame, CancelFrame, Reason, RunAliveFrame, RunOutcome } from '@cdui/protocol';
import { CodedError, DEFAULT_CANCEL_GRACE_S, reasonOf } from '@cdui/protocol';
import type { StopAuthor } from '../runner/launcher';
import { MemorySpool } from './memory-spool';
import { finishedMembers, outcomeOf } from './outcome';
import { AgentRun, type Feed, type RunOwner } from './run';
import { Room } from './room';
import type { AgentWorld, Spool } from './world';

/** So many runs that are over are remembered. */
const PAST = 1_000;

/** How long the end of a run waits for what it printed last. */
const LAST_WORDS_MS = 2_000;

/** What the table of runs asks the connection and the agent. */
export interface RunsOwner {
  /** Whether a run may start at this moment; if not, `Runs.look` is called when it may have changed. */
  mayStart(): boolean;
  /** Why the agent takes no new run now; null when it does. */
  refusal(assignment: AssignFrame): Reason | null;
  /** There is no room for runs any more, or again. */
  roomChanged(): void;
  /** A process was started: it may take its time until it reports. */
  launched(): void;
  changed(): void;
}

/**
 * The runs that this agent has: those with a process, and those that ended and whose frames are not all durable elsewhere. There is one
 * attempt of a run at a time; a newer one replaces it. Assignments wait in `waiting` until their process starts, and are forgotten when the
 * connection goes before: the control plane then gives them to somebody else.
 */
export class Runs implements RunOwner {
  /** How long a stopped run may go on, unless it was said otherwise. In seconds. */
  graceS = DEFAULT_CANCEL_GRACE_S;
  readonly room: Room;

  private readonly runs = new Map<string, AgentRun>();
  private readonly waiting = new Map<string, AssignFrame>();
  /** What happens to the folder of a run, one after the other: an attempt goes before the next one comes. */
  private readonly turns = new Map<string, Promise<void>>();
  /** The newest attempt of runs that are over and forgotten: an assignment that is said again does not start it again. */
  private readonly past = new Map<string, number>();
  private readonly looking: (() => void)[] = [];
  private feed: Feed | null = null;

  constructor(
    private readonly world: AgentWorld,
    private readonly owner: RunsOwner,
  ) {
    this.room = new Room(world, () => owner.roomChanged());
  }

  /** Takes over what an earlier agent left: its frames are sent, then that the run is lost. */
  async takeOver(): Promise<void> {
    for (const left of await this.world.spools.left()) {
      const run = AgentRun.left(left, this);
      this.runs.set(left.runId, run);
      if (left.finished) continue;
      this.world.log.info(`Run ${left.runId} was lost when the agent ended: that is reported`, { run_id: left.runId });
      run.frame('run_finished', finishedMembers(outcomeOf('interrupted', reasonOf('agent_restarted'))));
    }
  }

  assign(assignment: AssignFrame): void {
    const { run_id: id, attempt } = assignment;
    const known = this.runs.get(id);
    const newest = known?.attempt ?? this.waiting.get(id)?.attempt ?? this.past.get(id) ?? 0;
    if (newest >= attempt) return;
    if (known) this.replace(known);
    const refusal = this.room.lack ?? this.owner.refusal(assignment);
    if (refusal !== null) return this.refuse(assignment, outcomeOf('failed', refusal));
    this.waiting.set(id, assignment);
    this.look();
    this.inTurn(id, () => this.begin(assignment));
  }

  cancel({ run_id: id, attempt, grace_s }: CancelFrame): void {
    const waiting = this.waiting.get(id);
    if (waiting?.attempt === attempt) {
      this.forget(id);
      return this.refuse(waiting, outcomeOf('cancelled', null));
    }
    const run = this.runs.get(id);
    if (run?.attempt === attempt) run.launched?.stop(grace_s ?? this.graceS, 'cancel');
  }

  acknowledge({ run_id: id, attempt, seq }: AckFrame): void {
    const run = this.runs.get(id);
    if (run?.attempt !== attempt) return;
    run.acknowledge(seq);
    this.settle(run);
  }

  /** After a welcome: frames that are not acknowledged go there, then what comes. */
  connect(feed: Feed): void {
    this.feed = feed;
    for (const run of this.runs.values()) run.connect(feed);
  }

  /** The connection is gone, and with it what was to start. */
  disconnect(): void {
    this.feed = null;
    this.waiting.clear();
    for (const run of this.runs.values()) run.disconnect();
    this.look();
  }

  /** The connection takes more. */
  flow(): void {
    for (const run of this.runs.values()) run.flow();
  }

  /** Something that assignments wait for may have changed. */
  look(): void {
    for (const resolve of this.looking.splice(0)) resolve();
  }

  stopAll(graceS: number, by: StopAuthor): void {
    for (const run of this.runs.values()) run.launched?.stop(graceS, by);
  }

  /** Answers what waits to start with a refusal. */
  refuseWaiting(reason: Reason): void {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const assignment of waiting) this.refuse(assignment, outcomeOf('failed', reason));
    this.look();
  }

  get alive(): RunAliveFrame['runs'] {
    const had = [...this.runs.values()].map(({ runId, attempt, lastSeq }) => ({
      run_id: runId,
      attempt,
      last_seq: lastSeq,
    }));
    const waiting = [...this.waiting.values()].map(({ run_id, attempt }) => ({ run_id, attempt, last_seq: 0 }));
    return [...had, ...waiting];
  }

  /** The attempt of a run that it has; null when it has none. */
  attemptOf(runId: string): number | null {
    return this.runs.get(runId)?.attempt ?? null;
  }

  /** Ids of runs whose processes may live. */
  get running(): readonly string[] {
    return [...this.runs.values()].filter(({ alive }) => alive).map(({ runId }) => runId);
  }

  /** Whether no process is left and none is about to start. */
  get idle(): boolean {
    return this.waiting.size === 0 && this.turns.size === 0 && this.running.length === 0;
  }

  /** Whether, besides, every frame is durable elsewhere. */
  get settled(): boolean {
    return this.idle && this.runs.size === 0;
  }

  failed(run: AgentRun, reason: Reason): void {
    this.world.log.warn(`${reason.message}: run ${run.runId} is stopped`, { run_id: run.runId });
    if (reason.code === 'disk_full') this.room.set(reason);
    run.launched?.stop(0, 'cancel');
    this.owner.changed();
  }

  /**
   * What it printed goes before its end, unless that takes long: nobody listens afterwards. And whether it left room for another, as one may be sent
   * at once.
   */
  ending(run: AgentRun): Promise<void> | null {
    const sent = this.world.consoles.over(run.runId);
    const looked = run.launched === null ? undefined : this.room.look();
    if (!sent && !looked) return null;
    return new Promise((resolve) => {
      const cancel = this.world.clock.after(LAST_WORDS_MS, resolve);
      void Promise.all([sent, looked]).then(() => {
        cancel();
        resolve();
      });
    });
  }

  finished(run: AgentRun): void {
    this.settle(run);
    this.owner.changed();
  }

  private async begin(assignment: AssignFrame): Promise<void> {
    const { run_id: id, attempt } = assignment;
    const wanted = (): boolean => this.waiting.get(id) === assignment;
    let spool: Spool | null = null;
    while (wanted()) {
      if (!this.owner.mayStart()) {
        await new Promise<void>((resolve) => this.looking.push(resolve));
      } else if (spool === null) {
        spool = await this.create(assignment);
      } else {
        // Nothing is awaited between the look and the start.
        this.waiting.delete(id);
        return this.launch(assignment, this.add(id, attempt, spool));
      }
    }
    await spool?.remove();
  }

  private async create(assignment: AssignFrame): Promise<Spool | null> {
    const { run_id: id, attempt } = assignment;
    try {
      return await this.world.spools.create(id, attempt);
    } catch (error) {
      const full = error instanceof CodedError && error.code === 'disk_full';
      const reason = full
        ? reasonOf('disk_full', error.params)
        : reasonOf('run_not_started', { reason: (error as Error).message });
      if (full) this.room.set(reason);
      if (this.waiting.get(id) !== assignment) return null;
      this.forget(id);
      this.refuse(assignment, outcomeOf('failed', reason));
      return null;
    }
  }

  private launch(assignment: AssignFrame, run: AgentRun): void {
    const launched = this.world.launcher.launch(assignment, run);
    run.launched = launched;
    this.owner.launched();
    void launched.over.then(() => {
      run.launched = null;
      this.settle(run);
      this.owner.changed();
    });
    this.owner.changed();
  }

  private add(id: string, attempt: number, spool: Spool): AgentRun {
    const run = new AgentRun(id, attempt, spool, this);
    this.runs.set(id, run);
    if (this.feed) run.connect(this.feed);
    return run;
  }

  private refuse({ run_id: id, attempt }: AssignFrame, outcome: RunOutcome): void {
    this.add(id, attempt, new MemorySpool()).frame('run_finished', finishedMembers(outcome));
  }

  /** Ends an attempt that the control plane has given up. */
  private replace(run: AgentRun): void {
    const { runId: id, launched } = run;
    this.runs.delete(id);
    run.abandon();
    launched?.stop(0, 'cancel');
    this.inTurn(id, async () => {
      await launched?.over;
      await run.removeSpool();
    });
  }

  private forget(id: string): void {
    this.waiting.delete(id);
    this.look();
  }

  private settle(run: AgentRun): void {
    if (!run.settled || run.alive || this.runs.get(run.runId) !== run) return;
    this.runs.delete(run.runId);
    this.past.set(run.runId, run.attempt);
    if (this.past.size > PAST) this.past.delete(this.past.keys().next().value!);
    this.inTurn(run.runId, () => run.removeSpool());
  }

  private inTurn(id: string, work: () => Promise<void>): void {
    const turn = (this.turns.get(id) ?? Promise.resolve())
      .then(work)
      .catch((error: unknown) => this.world.log.warn(`The folder of run ${id}: ${String(error)}`, { run_id: id }))
      .then(() => {
        if (this.turns.get(id) === turn) this.turns.delete(id);
        this.owner.changed();
      });
    this.turns.set(id, turn);
  }
}
