import type { Clock, EventPage, EventStore, RunSinks } from '@cdui/execution';
import type { ArtifactPayload, MetricPoint, TerminalEvent, WarningPayload } from '@cdui/protocol';
import type { CodedError } from '@cdui/protocol';
import type { LoggedRun, RunRecorder } from '../../events/event-log';
import { EventLog } from '../../events/event-log';

/** The event log without anything clever: each report is one batch. Keeps what was published, in the order in which it was. */
export class StoreLog extends EventLog {
  readonly published: { readonly runId: string; readonly cursor: number; readonly type: string }[] = [];

  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {
    super();
  }

  async open(run: LoggedRun): Promise<RunRecorder> {
    return new StoreRecorder(run, this.store, this.clock, await this.store.lastCursor(run.runId));
  }

  publishEnd(runId: string, cursor: number, event: TerminalEvent): void {
    this.published.push({ runId, cursor, type: event.type });
  }

  read(runId: string, after: number, limit: number, capBytes: number): Promise<EventPage> {
    return this.store.read(runId, after, limit, capBytes);
  }

  wait(): Promise<void> {
    return Promise.resolve();
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  forget(): void {
    // It remembers nothing.
  }
}

class StoreRecorder implements RunRecorder, RunSinks {
  private readonly writes: Promise<void>[] = [];
  private closed = false;
  private failed = false;

  constructor(
    private readonly run: LoggedRun,
    private readonly store: EventStore,
    private readonly clock: Clock,
    private cursor: number,
  ) {}

  started(): boolean {
    this.run.onStarted();
    return true;
  }
  recordStart(): void {
    this.append('execution_start', { run_id: this.run.runId });
  }
  recordWarning(warning: WarningPayload): void {
    this.append('run_warning', warning);
  }
  emit(event: { readonly type: string; readonly payload: unknown }): boolean {
    return this.append(event.type, event.payload);
  }
  recordMetrics(points: readonly MetricPoint[]): boolean {
    return this.append('metric', { points });
  }
  recordArtifact(artifact: ArtifactPayload): boolean {
    return this.append('artifact', artifact);
  }
  warn(warning: WarningPayload): boolean {
    return this.append('run_warning', warning);
  }
  console(): boolean {
    return true;
  }
  drained(): Promise<void> {
    return Promise.all(this.writes).then(() => undefined);
  }
  async close(): Promise<void> {
    this.closed = true;
    await this.drained();
  }

  private append(type: string, payload: unknown): boolean {
    if (this.closed || this.failed) return true;
    this.cursor += 1;
    const event = { cursor: this.cursor, type, payload: JSON.stringify(payload), ts: this.clock.now() };
    this.writes.push(
      this.store.append(this.run.runId, { events: [event] }).catch((error: unknown) => {
        if (this.failed) return;
        this.failed = true;
        const { code, message, params } = error as CodedError;
        this.run.onFailed({ code, params, message });
      }),
    );
    return true;
  }
}
