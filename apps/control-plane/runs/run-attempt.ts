import type {
  ExecutionOutcome,
  Executor,
  Fingerprint,
  NodeRecord,
  Placement,
  RunInput,
  RunPlace,
  RunReturned,
} from '@cdui/execution';
import type { GraphFile, Reason, StopReason, WarningPayload } from '@cdui/protocol';
import { reasonOf } from '@cdui/protocol';
import { LOCAL } from '@cdui/scheduling';
import type { RunRecorder } from '../events/event-log';
import type { AcceptedRun } from './live-run';
import type { RunWorld } from './world';

export interface AttemptParts {
  readonly run: AcceptedRun;
  readonly world: RunWorld;
  readonly attempt: number;
  readonly placement: Placement;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** When its graph began to execute, under an earlier server. */
  readonly beganAt?: number;
  /** Tells the run what happened. */
  readonly post: (input: RunInput) => void;
}

/** One try to execute a run: the call of its executor, and the recorder of what it reports. */
export class RunAttempt implements RunPlace {
  /** Resolves when the executor has nothing more to say. */
  over: Promise<void> = Promise.resolve();
  private readonly stop = new AbortController();
  private recorder: RunRecorder | null = null;
  private closing: Promise<void> | null = null;
  private outcome: ExecutionOutcome | RunReturned | null = null;
  private lastSeq: number | undefined;
  private tellDurable: (seq: number) => void = () => undefined;
  private tellLost: () => void = () => undefined;

  constructor(private readonly parts: AttemptParts) {}

  get attempt(): number {
    return this.parts.attempt;
  }

  /** The frame that ended it; undefined on this server. */
  get endSeq(): number | undefined {
    return this.lastSeq;
  }

  /** Whether a worker was told to start it and never answered. */
  get unanswered(): boolean {
    return this.outcome?.status === 'returned' && this.outcome.unanswered;
  }

  execute(graph: () => Promise<GraphFile>): void {
    const { run, world, placement } = this.parts;
    this.over = this.call('executed', async () => {
      const whole = await graph();
      const sinks = await this.record();
      this.storeProvenance();
      return this.executor.run({
        kind: 'start',
        runId: run.id,
        graph: whole,
        options: { ...run.options, device: placement.devices[0] ?? run.options.device ?? 'cpu' },
        placement,
        ...(run.nodeTypes && { nodeTypes: run.nodeTypes }),
        provenance: run.provenance !== null,
        folders: world.files.folders(run.id),
        sinks,
        signal: this.stop.signal,
        place: this,
      });
    });
  }

  /** Takes the run over from a server before this one. */
  adopt(recordedSeq: number): void {
    const { run, placement } = this.parts;
    this.over = this.call('taken over', async () => {
      const sinks = await this.record();
      sinks.recordWarning(warningOf('worker_adopted', { worker: placement.worker }));
      return this.executor.run({
        kind: 'adopt',
        runId: run.id,
        placement,
        recordedSeq,
        sinks,
        signal: this.stop.signal,
        place: this,
      });
    });
  }

  abort(reason: StopReason): void {
    this.stop.abort(reason);
    if (reason === 'lost') this.tellLost();
  }

  /** Resolves when all that it reported is durable, or has failed. It reports nothing more. */
  close(): Promise<void> {
    this.closing ??= this.recorder?.close() ?? Promise.resolve();
    return this.closing;
  }

  /** Goes into the same commit as the end. A run that never came to its executor has no facts. */
  storeFacts(): void {
    const { world, placement, run } = this.parts;
    const { outcome } = this;
    if (outcome === null || outcome.status === 'returned') return;
    const facts = { ...outcome.facts, peak_memory: outcome.peak_memory };
    if (placement.worker !== LOCAL) {
      this.addFacts(facts);
      return;
    }
    const fingerprint = world.machine.fingerprint(outcome.facts?.['runtime'] ?? null);
    this.keep('facts', world.store.addFacts(run.id, { ...facts, fingerprint_source: 'control-plane' }, fingerprint));
  }

  /** Its end is durable. */
  filed(): void {
    if (this.lastSeq !== undefined) this.tellDurable(this.lastSeq);
  }

  covered(seq: number): void {
    this.recorder?.cover(seq);
  }

  onDurable(listener: (seq: number) => void): void {
    this.tellDurable = listener;
  }

  onLost(listener: () => void): void {
    this.tellLost = listener;
  }

  endedAt(seq: number): void {
    this.lastSeq = seq;
  }

  disconnected(reason: Reason): void {
    const { code, params, message: text } = reason;
    const { worker } = this.parts.placement;
    this.recorder?.recordWarning(warningOf('worker_disconnected', { worker, reason: { code, params, text } }));
    this.parts.post({ type: 'disconnected' });
  }

  reconnected(): void {
    this.recorder?.recordWarning(warningOf('worker_reconnected', { worker: this.parts.placement.worker }));
    this.parts.post({ type: 'reconnected' });
  }

  graceOver(reason: Reason): void {
    this.parts.post({ type: 'grace_over', reason });
  }

  addFacts(facts: Readonly<Record<string, unknown>>, fingerprint?: Fingerprint): void {
    const { world, run } = this.parts;
    this.keep('facts', world.store.addFacts(run.id, facts, fingerprint));
  }

  addProvenance(record: NodeRecord): void {
    const { world, run } = this.parts;
    this.keep('provenance', world.store.addProvenance(run.id, [record]));
  }

  private get executor(): Executor {
    const { placement, run, world } = this.parts;
    return placement.worker === LOCAL ? run.executor : world.workers.executor;
  }

  private async call(what: string, executor: () => Promise<ExecutionOutcome | RunReturned>): Promise<void> {
    const { run, world, post } = this.parts;
    try {
      this.outcome = await executor();
    } catch (error) {
      world.report(`Run ${run.id} could not be ${what}`, error);
    }
    // All that it reported is durable, or has failed, before anybody hears that it is over.
    await this.close();
    const { outcome } = this;
    if (outcome === null) post({ type: 'executor_error' });
    else post(outcome.status === 'returned' ? { type: 'returned' } : { type: 'finished', outcome });
  }

  private async record(): Promise<RunRecorder> {
    const { run, world, startedAt, beganAt, post } = this.parts;
    this.recorder = await world.log.open({
      runId: run.id,
      startedAt,
      ...(beganAt !== undefined && { beganAt }),
      onStarted: (at) => this.started(at),
      onFailed: (reason) => post({ type: 'storage_failed', reason }),
      onRecorded: (seq) => this.tellDurable(seq),
    });
    return this.recorder;
  }

  /** Stands in the log before all that follows, whatever the run itself is busy with. */
  private started(at: number): void {
    this.recorder?.recordStart();
    // The next server goes on counting from there.
    if (this.parts.placement.worker !== LOCAL) this.addFacts({ began_at: at });
    for (const warning of this.parts.run.warnings) this.recorder?.recordWarning(warning);
    this.parts.post({ type: 'started' });
  }

  private storeProvenance(): void {
    const { world, run } = this.parts;
    // A worker's own files count there.
    if (run.provenance !== null && this.parts.placement.worker === LOCAL) {
      this.keep('provenance', world.store.addProvenance(run.id, run.provenance));
    }
  }

  private keep(what: string, written: Promise<void>): void {
    const { world, run } = this.parts;
    written.catch((error: unknown) => world.report(`The ${what} of run ${run.id} could not be stored`, error));
  }
}

function warningOf(
  code: 'worker_adopted' | 'worker_disconnected' | 'worker_reconnected',
  params: Readonly<Record<string, unknown>>,
): WarningPayload {
  return { kind: code, detail: reasonOf(code, params).message, code, params };
}
