import type { Clock, EventPage, EventStore, RunStore } from '@cdui/execution';
import { type TerminalEvent, isTerminal } from '@cdui/protocol';
import type { ConsoleLogs } from './console-logs';
import { EventLog, type LoggedRun, type RunRecorder } from './event-log';
import { Followers } from './followers';
import { RecentEvents } from './recent-events';
import { Recorder } from './recorder';
import { SharedPages } from './shared-pages';

/** A run in memory: while it is recorded, or somebody waits for it. */
interface RunInMemory {
  readonly recent: RecentEvents;
  readonly followers: Followers;
  recorder: Recorder | null;
}

export interface EventLogParts {
  readonly runs: RunStore;
  readonly events: EventStore;
  readonly consoles: ConsoleLogs;
  readonly clock: Clock;
  readonly payloadCapBytes: number;
}

/** The logs of runs on an `EventStore`, with what is new in memory. */
export class StoredEventLog extends EventLog {
  private readonly shared = new SharedPages();
  private readonly inMemory = new Map<string, RunInMemory>();

  constructor(private readonly parts: EventLogParts) {
    super();
  }

  async open(run: LoggedRun): Promise<RunRecorder> {
    const { events, consoles, clock, payloadCapBytes } = this.parts;
    const { runId } = run;
    const kept = this.keep(runId);
    await kept.recorder?.close();
    const cursor = await events.lastCursor(runId);
    const last = cursor > 0 ? (await events.read(runId, cursor - 1, 1, 1)).events[0] : undefined;
    const artifacts = cursor > 0 ? (await events.artifacts(runId)).length : 0;
    kept.recent.begin(cursor);
    kept.recorder = new Recorder({
      run,
      store: events,
      consoles,
      clock,
      payloadCapBytes,
      from: { cursor, ts: last?.ts ?? 0, artifacts },
      onCommitted: (committed) => {
        this.recorded += committed.length;
        kept.recent.add(committed);
        kept.followers.wake();
      },
    });
    this.inMemory.set(runId, kept);
    return kept.recorder;
  }

  publishEnd(runId: string, _cursor: number, _event: TerminalEvent, _at: number): void {
    // It is in the store, and so is all before it: nothing has to be kept for those who come now.
    this.forget(runId);
  }

  read(runId: string, after: number, limit: number, capBytes: number): Promise<EventPage> {
    const recent = this.inMemory.get(runId)?.recent;
    const page = recent?.page(after, limit, capBytes);
    if (page) return Promise.resolve(page);
    const read = (): Promise<EventPage> => this.parts.events.read(runId, after, limit, capBytes);
    // Only what cannot change any more is shared: a reader must see all that was committed when it asked.
    const settled = recent !== undefined && recent.last !== null && after + limit <= recent.last;
    return settled ? this.shared.page(`${runId} ${after} ${limit} ${capBytes}`, read) : read();
  }

  newest(runId: string): Promise<number> {
    return this.parts.events.lastCursor(runId);
  }

  async wait(runId: string, after: number, ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    const kept = this.keep(runId);
    const last = kept.recent.last;
    if (last !== null && last > after) return;
    const { over, end } = kept.followers.wait(ms, signal);
    if (last === null) void this.hasMore(runId, after).then((more) => more && end());
    await over;
    if (kept.recorder === null && kept.followers.count === 0 && this.inMemory.get(runId) === kept) {
      this.inMemory.delete(runId);
    }
  }

  async flush(): Promise<void> {
    await Promise.all([...this.inMemory.values()].map(async ({ recorder }) => recorder?.flush()));
  }

  forget(runId: string): void {
    const kept = this.inMemory.get(runId);
    this.inMemory.delete(runId);
    this.shared.forget(runId);
    kept?.followers.wakeAll();
  }

  private keep(runId: string): RunInMemory {
    let kept = this.inMemory.get(runId);
    if (!kept) {
      kept = { recent: new RecentEvents(), followers: new Followers(this.parts.clock), recorder: null };
      this.inMemory.set(runId, kept);
    }
    return kept;
  }

  /** Whether there is no use in waiting: for a run that is not recorded here (it is queued, or has ended). */
  private async hasMore(runId: string, after: number): Promise<boolean> {
    try {
      const [run, cursor] = await Promise.all([this.parts.runs.get(runId), this.parts.events.lastCursor(runId)]);
      return run === null || isTerminal(run.status) || cursor > after;
    } catch {
      return true;
    }
  }
}
