import type { Executor, NewRun, RunFilter, RunRecord } from '@cdui/execution';
import type {
  GraphFile,
  GraphSettings,
  MoveTo,
  Params,
  RunCancelled,
  RunDeleted,
  RunDetail,
  RunList,
  RunMoved,
  RunRow,
  RunStatus,
  RunSubmitted,
  Submission,
} from '@cdui/protocol';
import { checkOptions, checkSubmission, CodedError, isTerminal, reasonOf } from '@cdui/protocol';
import type { Slot, SlotUsage } from '@cdui/scheduling';
import { LOCAL } from '@cdui/scheduling';
import { Subject } from 'rxjs';
import { GraphVault, type KeptGraph } from './graph-vault';
import type { AcceptedRun, RequeueReason, RunKeeper } from './live-run';
import { LiveRun } from './live-run';
import { runRow } from './local/run-rows';
import { askedDevice, engineOptions } from './placement-of';
import { placeFor, placeOfRecord } from './places';
import { resumeOf } from './resume';
import { Retention } from './retention';
import { RunSlots } from './run-slots';
import type { RunChange } from './runs';
import { Runs } from './runs';
import type { PreparedGraph, RunWorld } from './world';

/** A submission, and where it came from. */
export interface Request extends Submission {
  /** Of a canvas: its session's name and host; a run of the interactive lane without them has a host of its own. */
  readonly session?: { readonly id: string; readonly executor: Executor };
  readonly changedNodes?: readonly string[];
  readonly retryOf?: string;
}

/**
 * The runs of this server: accepts them, lets them wait and start in order, and files how they end. What it holds in memory is what is on its
 * way; everything else is in the stores.
 */
export class RunService extends Runs {
  private readonly subject = new Subject<RunChange>();
  readonly changes = this.subject.asObservable();
  private readonly live = new Map<string, LiveRun>();
  private readonly vault = new GraphVault();
  private readonly slots: RunSlots;
  private readonly retention: Retention;
  private readonly keeper: RunKeeper;
  private nextSeq = 1;
  private revision = 0;
  private stopping = false;
  private over = false;
  private idle: (() => void) | null = null;

  constructor(private readonly world: RunWorld) {
    super();
    this.slots = new RunSlots(world.clock, world.limits, world.machine, world.workers, (placed) =>
      this.live.get(placed.run.id)?.place(placed),
    );
    this.retention = new Retention(world, (id) => this.forgetDeleted(id));
    this.keeper = {
      graph: (run) => this.graphOf(run),
      withdraw: (run) => this.slots.withdraw(run),
      release: (run) => this.slots.release(run),
      requeue: (live, why) => this.requeue(live, why),
      began: () => this.slots.wentWell(),
      changed: (id) => this.changed(id),
      gone: (live) => this.gone(live),
      givesUp: () => this.over,
    };
  }

  /** Runs that wait, by queue key. */
  get queueDepths(): ReadonlyMap<string, number> {
    return this.slots.depths();
  }

  /** Runs that this server works on. */
  get activeCount(): number {
    return this.live.size;
  }

  /** How many runs a slot's device holds, how many it admits, and who else offers it. */
  usage(slot: Slot): SlotUsage {
    return this.slots.usage(slot);
  }

  /**
   * What an earlier server left unfinished here ends: secrets are gone with it, and so is whatever executed the runs. Those that a worker may
   * still execute are taken over.
   */
  async recover(): Promise<void> {
    const { store } = this.world;
    this.nextSeq = (await store.lastQueueSeq()) + 1;
    const retired: LiveRun[] = [];
    const left = await store.active();
    if (left.some((record) => record.status !== 'queued' && resumeOf(record))) await this.slots.learnCards();
    for (const record of left) {
      const resume = record.status === 'queued' ? null : resumeOf(record);
      const live = this.leftOver(record);
      if (resume) this.slots.hold(live.run, resume.placement);
      else retired.push(live);
      live.post({ type: resume ? 'adopted' : 'restarted' });
    }
    await Promise.allSettled(retired.map(({ filed }) => filed));
    this.retention.trim();
  }

  async submit(body: unknown): Promise<RunSubmitted> {
    this.refuseWhenStopping();
    return this.accept(checkSubmission(body));
  }

  async submitJson(bytes: Uint8Array): Promise<RunSubmitted> {
    this.refuseWhenStopping();
    const { name, options, settings, whole, ...prepared } = await this.world.graphs.read(bytes);
    return this.enter({ name, options }, settings, whole, prepared);
  }

  /** Accepts what was checked. */
  async accept(request: Request): Promise<RunSubmitted> {
    this.refuseWhenStopping();
    const { graph, options } = request;
    const prepared = await this.world.graphs.prepare(graph, options);
    return this.enter(request, graph.settings, graph, prepared);
  }

  /** Makes a run of what was found to be able to run. */
  private async enter(
    request: Omit<Request, 'graph'>,
    settings: GraphSettings | undefined,
    graph: KeptGraph,
    prepared: PreparedGraph,
  ): Promise<RunSubmitted> {
    const { world } = this;
    const { options } = request;
    const asked = askedDevice(settings, options);
    const place = placeFor({ asked, options, nodeTypes: prepared.nodeTypes }, world);
    // What waited for the graph's check may have outlived the server's readiness.
    this.refuseWhenStopping();
    const id = world.ids.runId();
    const queueSeq = this.nextSeq++;
    const engine = engineOptions(settings, options, place.at.devices[0] ?? 'cpu', request.changedNodes ?? null);
    const alone = engine.seed !== null;
    const live = this.begin({
      id,
      lane: options.lane,
      waiting: { id, ...place.at, queueSeq, alone, ...urgency(options.priority) },
      options: engine,
      warnings: place.warning ? [place.warning] : [],
      provenance: prepared.provenance,
      nodeTypes: prepared.nodeTypes,
      executor: request.session?.executor ?? world.executor,
    });
    if (options.lane === 'interactive') this.admit(live, request.session?.id ?? null);
    await this.insert(live, this.newRun(live, request, prepared, asked));
    this.changed(id);
    // A server that began to stop meanwhile has ended it already.
    if (live.at === 'queued') {
      this.vault.keep(id, graph, prepared.hadSecrets);
      if (options.lane === 'interactive') {
        live.place({ worker: LOCAL, devices: place.at.devices, slots: [] });
        await live.started;
      } else {
        this.slots.submit(live.run);
      }
    }
    return { run_id: id, status: live.status };
  }

  async list(filter: RunFilter): Promise<RunList> {
    const { store } = this.world;
    const { rows, total } = await store.list(filter);
    return { runs: await this.rows(rows), total, limit: filter.limit, offset: filter.offset };
  }

  async get(id: string): Promise<RunDetail> {
    const { store, events } = this.world;
    const [record, graph, cursor] = await Promise.all([store.get(id), store.graph(id), events.lastCursor(id)]);
    if (record === null || graph === null) throw notFound(id);
    const [row] = await this.rows([record]);
    if (row === undefined) throw notFound(id);
    return { ...row, graph: JSON.parse(graph) as Params, last_cursor: cursor };
  }

  async state(id: string): Promise<{ readonly status: RunStatus; readonly active: boolean }> {
    const status = this.live.get(id)?.status ?? (await this.existing(id)).status;
    return { status, active: !isTerminal(status) };
  }

  async cancel(id: string): Promise<RunCancelled> {
    const live = this.live.get(id);
    if (live === undefined) return { run_id: id, status: (await this.existing(id)).status, cancelled: false };
    const cancelled = live.cancel();
    if (live.at === 'ended') await live.filed;
    return { run_id: id, status: live.status, cancelled };
  }

  /** Resolves when the run is not executed any more. */
  async ended(id: string): Promise<void> {
    // That its end could not be stored at the first try is told elsewhere.
    await this.live.get(id)?.filed.catch(() => undefined);
  }

  async retry(id: string): Promise<RunSubmitted> {
    this.refuseWhenStopping();
    const record = await this.existing(id);
    if (record.hadSecrets) {
      const message = `The graph of run ${id} had secret parameters, which are not stored: submit the graph with them again`;
      throw new CodedError('secrets_needed', message, { run_id: id });
    }
    const graph = await this.world.store.graph(id);
    if (graph === null) throw notFound(id);
    const options = { ...checkOptions(record.options), lane: 'queued' as const };
    return this.accept({ graph: JSON.parse(graph) as GraphFile, options, name: record.name, retryOf: id });
  }

  async move(id: string, to: MoveTo): Promise<RunMoved> {
    const { slots } = this;
    for (const waiting of typeof to === 'string' ? [id, to] : [id]) {
      if (slots.queueOf(waiting) === null) throw notWaiting(waiting, (await this.existing(waiting)).status);
    }
    if (!slots.move(id, to)) {
      const message = `Run ${id} waits in the queue ${slots.queueOf(id)}, and run ${to} does not: a run is moved within its queue`;
      throw new CodedError('run_in_other_queue', message, { run_id: id, before: to });
    }
    this.changed(id);
    return { run_id: id, queue_position: slots.position(id) };
  }

  async delete(id: string): Promise<RunDeleted> {
    const live = this.live.get(id);
    if (live && !isTerminal(live.status)) throw active(id, live.status);
    if (!(await this.world.store.delete(id))) {
      const { status } = await this.existing(id);
      throw active(id, status);
    }
    await this.forgetDeleted(id);
    return { run_id: id, deleted: true };
  }

  /**
   * Takes no more runs, retires what waits, asks what runs to stop, and waits for it.
   *
   * @param graceMs how long
   * @returns how many runs go on nevertheless
   */
  async shutdown(graceMs: number): Promise<number> {
    this.stopping = true;
    this.slots.close();
    this.retention.close();
    for (const live of [...this.live.values()]) live.post({ type: 'shutdown' });
    if (this.executingHere.length > 0) {
      await new Promise<void>((resolve) => {
        const takeBack = this.world.clock.after(graceMs, resolve);
        this.idle = () => {
          takeBack();
          resolve();
        };
      });
    }
    this.over = true;
    return this.executingHere.length;
  }

  /** Resolves when what runs elsewhere have said so far is stored. They go on without this server. */
  async untilStored(): Promise<void> {
    await this.world.log.flush();
    await Promise.all([...this.live.values()].map((live) => live.untilStored()));
  }

  private get executingHere(): readonly LiveRun[] {
    return [...this.live.values()].filter(({ isElsewhere }) => !isElsewhere);
  }

  private refuseWhenStopping(): void {
    if (!this.stopping) return;
    throw new CodedError('server_draining', 'The server is stopping and takes no more runs: try again when it is back');
  }

  private begin(run: AcceptedRun, record: RunRecord | null = null): LiveRun {
    const live = new LiveRun(run, this.world, this.keeper, record);
    this.live.set(run.id, live);
    return live;
  }

  private leftOver(record: RunRecord): LiveRun {
    const { id, lane, queueSeq } = record;
    const alone = typeof record.options['seed'] === 'number';
    const waiting = { id, ...placeOfRecord(record), queueSeq, alone, ...urgency(record.options['priority']) };
    const nothing = { options: {}, warnings: [], provenance: null, nodeTypes: null, executor: this.world.executor };
    return this.begin({ id, lane, waiting, ...nothing }, record);
  }

  private admit(live: LiveRun, session: string | null): void {
    try {
      this.slots.admit(live.id, session);
    } catch (error) {
      this.live.delete(live.id);
      throw error;
    }
  }

  private async insert(live: LiveRun, row: NewRun): Promise<void> {
    try {
      await this.world.store.insert(row);
    } catch (error) {
      this.slots.release(live.run);
      this.gone(live);
      throw error;
    }
  }

  private newRun(live: LiveRun, request: Omit<Request, 'graph'>, prepared: PreparedGraph, device: string): NewRun {
    const { id, lane, waiting } = live.run;
    return {
      id,
      name: request.name,
      lane,
      graph: prepared.text,
      options: { ...request.options, device },
      queueKey: waiting.queueKey,
      queueSeq: waiting.queueSeq,
      createdAt: this.world.clock.now(),
      retryOf: request.retryOf ?? null,
      hadSecrets: prepared.hadSecrets,
    };
  }

  private async graphOf({ id }: AcceptedRun): Promise<GraphFile> {
    const kept = this.vault.take(id);
    if (kept !== null) return kept;
    const text = await this.world.store.graph(id);
    if (text === null) throw notFound(id);
    return JSON.parse(text) as GraphFile;
  }

  private requeue(live: LiveRun, why: RequeueReason): void {
    if (why === 'unanswered') return this.slots.giveBackFenced(live.run);
    if (why === 'returned') return this.slots.giveBackAtOnce(live.run);
    if (live.run.lane === 'queued') {
      this.slots.giveBack(live.run);
      return;
    }
    // The canvas does not wait.
    live.post({ type: 'removed', reason: reasonOf('start_failed') });
  }

  private async rows(records: readonly RunRecord[]): Promise<readonly RunRow[]> {
    const metrics = await this.world.events.finalMetrics(records.map(({ id }) => id));
    return records.map((record) => {
      const waits = record.status === 'queued';
      const place = {
        position: waits ? this.slots.position(record.id) : null,
        reason: waits ? this.slots.reason(record.id) : null,
      };
      return runRow(record, place, metrics.get(record.id) ?? []);
    });
  }

  private async existing(id: string): Promise<RunRecord> {
    const record = await this.world.store.get(id);
    if (record === null) throw notFound(id);
    return record;
  }

  private changed(id: string): void {
    this.subject.next({ id, rev: ++this.revision, status: this.live.get(id)?.status ?? null });
  }

  private gone({ id, status }: LiveRun): void {
    this.live.delete(id);
    this.vault.drop(id);
    if (isTerminal(status)) this.retention.trim();
    if (this.executingHere.length === 0) this.idle?.();
  }

  private async forgetDeleted(id: string): Promise<void> {
    this.world.log.forget(id);
    this.changed(id);
    await this.world.files.remove(id);
  }
}

/** Left out where nobody asked for it. */
function urgency(priority: unknown): { readonly priority?: number } {
  return typeof priority === 'number' && priority !== 0 ? { priority } : {};
}

function notFound(id: string): CodedError {
  return new CodedError('run_not_found', `There is no run ${id.slice(0, 80)}`, { run_id: id.slice(0, 80) });
}

function notWaiting(id: string, status: RunStatus): CodedError {
  const message = `Run ${id} is ${status}: only a run that waits in a queue has a place there`;
  return new CodedError('run_not_waiting', message, { run_id: id, status });
}

function active(id: string, status: RunStatus): CodedError {
  const message = `Run ${id} is ${status}: cancel it and wait for its end before it is deleted`;
  return new CodedError('run_active', message, { run_id: id, status });
}
