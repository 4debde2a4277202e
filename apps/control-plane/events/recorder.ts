import {
  type Clock,
  type EventStore,
  type NodeEvent,
  METRIC_BATCH_POINTS,
  type StoredArtifact,
  type StoredEvent,
  type StoredMetric,
  capPayloadText,
} from '@cdui/execution';
import { type ArtifactPayload, CodedError, type MetricPoint, type WarningPayload, reasonOf } from '@cdui/protocol';
import type { ConsoleLogs } from './console-logs';
import type { LoggedRun, RunRecorder } from './event-log';

/** Reports that wait for their commit before the run is asked to wait, and how many may be left when it goes on. */
const HIGH_EVENTS = 8192;
const HIGH_BYTES = 16 * 1024 * 1024;
const LOW_SHARE = 0.5;
/** What one commit takes: a fourth of what may wait, so that the run reports on while the database works. */
const COMMIT_EVENTS = 2048;
const COMMIT_BYTES = 4 * 1024 * 1024;
/** A commit takes what came within this time, unless much came before. */
const GATHER_MS = 4;
const GATHER_EVENTS = 256;

interface Batch {
  readonly events: StoredEvent[];
  readonly metrics: StoredMetric[];
  readonly artifacts: StoredArtifact[];
  bytes: number;
  recordedSeq?: number;
}

export interface RecorderParts {
  readonly run: LoggedRun;
  readonly store: EventStore;
  readonly consoles: ConsoleLogs;
  readonly clock: Clock;
  readonly payloadCapBytes: number;
  /** Where the stored log of the run ends. */
  readonly from: { readonly cursor: number; readonly ts: number; readonly artifacts: number };
  readonly onCommitted: (events: readonly StoredEvent[]) => void;
}

/**
 * Takes in what one run reports: gives each event its cursor and time, and stores what has come while the commit before was under way as the next
 * one. Nothing here waits, copies or parses; a payload becomes text once.
 */
export class Recorder implements RunRecorder {
  private cursor: number;
  private committed: number;
  private ts: number;
  private artifacts: number;
  /** What waits for its commit, in order; the last batch is being filled. */
  private pending: Batch[] = [];
  /** Events and bytes that are not committed. */
  private outstanding = { events: 0, bytes: 0 };
  private committing: Promise<void> | null = null;
  private cancelGather: (() => void) | null = null;
  private waiting: (() => void)[] = [];
  /** Frames of a worker: the newest that was covered, and the newest that is durable. */
  private readonly frames = { covered: 0, durable: 0 };
  /** What `atMs` counts from. */
  private base: number;
  private failed = false;
  private closed = false;

  constructor(private readonly parts: RecorderParts) {
    ({ cursor: this.cursor, ts: this.ts, artifacts: this.artifacts } = parts.from);
    this.committed = this.cursor;
    this.base = parts.run.beganAt ?? parts.run.startedAt;
  }

  started(afterMs?: number): boolean {
    const { run, clock } = this.parts;
    const now = clock.now();
    this.base = afterMs === undefined ? now : Math.min(now, run.startedAt + afterMs);
    run.onStarted(this.base);
    return this.below;
  }

  recordStart(): void {
    this.push('execution_start', { run_id: this.parts.run.runId }, this.base);
  }

  recordWarning(warning: WarningPayload): void {
    this.push('run_warning', warning, this.parts.clock.now());
  }

  emit(event: NodeEvent, atMs: number): boolean {
    return this.push(event.type, event.payload, this.base + atMs);
  }

  /** One event for what comes together: whoever executes the run has gathered it, with `MetricBatcher`. */
  recordMetrics(points: readonly MetricPoint[], atMs: number): boolean {
    for (let i = 0; i < points.length; i += METRIC_BATCH_POINTS) {
      const some = points.length <= METRIC_BATCH_POINTS ? points : points.slice(i, i + METRIC_BATCH_POINTS);
      this.push('metric', { points: some }, this.base + atMs, ({ metrics }) => {
        for (const { node_id, name, step, value } of some) {
          metrics.push({ node_id, name, step, value: finite(value), ts: this.ts });
        }
      });
    }
    return this.below;
  }

  recordArtifact(artifact: ArtifactPayload, atMs: number): boolean {
    const id = `a${this.artifacts + 1}`;
    const payload = { artifact_id: id, ...artifact };
    return this.push('artifact', payload, this.base + atMs, ({ artifacts }) => {
      this.artifacts += 1;
      const { kind, path, meta, node_id: nodeId } = artifact;
      artifacts.push({ id, kind, path, meta, nodeId, backend: 'local', mountLabel: null, createdAt: this.ts });
    });
  }

  warn(warning: WarningPayload, atMs: number): boolean {
    return this.push('run_warning', warning, this.base + atMs);
  }

  cover(seq: number): void {
    if (this.closed || this.failed) return;
    this.frames.covered = seq;
    (this.pending.at(-1) ?? this.batchToFill()).recordedSeq = seq;
    if (this.committing === null) this.commitSoon();
  }

  console(text: string): boolean {
    if (!this.closed) this.parts.consoles.append(this.parts.run.runId, text);
    return this.below;
  }

  drained(): Promise<void> {
    return this.below ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.flush();
  }

  /** Resolves when all that was reported so far is durable or has failed. */
  async flush(): Promise<void> {
    const upTo = this.cursor;
    const { covered } = this.frames;
    while (!this.failed && (this.committed < upTo || this.frames.durable < covered)) {
      this.commitNow();
      await this.committing;
    }
  }

  private get below(): boolean {
    return this.outstanding.events < HIGH_EVENTS && this.outstanding.bytes < HIGH_BYTES;
  }

  /** @param add puts what belongs to the event into the same commit */
  private push(type: string, payload: object, at: number, add?: (batch: Batch) => void): boolean {
    if (this.closed || this.failed) return this.below;
    // A reporter's clock may run ahead of ours, and ours may be set back.
    this.ts = Math.max(this.ts, Math.min(Math.round(at), this.parts.clock.now()));
    this.cursor += 1;
    const text = capPayloadText(payload, this.parts.payloadCapBytes);
    const batch = this.batchToFill();
    batch.events.push({ cursor: this.cursor, type, payload: text, ts: this.ts });
    batch.bytes += text.length;
    add?.(batch);
    this.outstanding.events += 1;
    this.outstanding.bytes += text.length;
    if (this.committing === null) this.commitSoon();
    return this.below;
  }

  private batchToFill(): Batch {
    const last = this.pending.at(-1);
    if (last && last.events.length < COMMIT_EVENTS && last.bytes < COMMIT_BYTES) return last;
    const batch: Batch = { events: [], metrics: [], artifacts: [], bytes: 0 };
    this.pending.push(batch);
    return batch;
  }

  private commitSoon(): void {
    if (this.pending[0]!.events.length >= GATHER_EVENTS) this.commitNow();
    else this.cancelGather ??= this.parts.clock.after(GATHER_MS, () => this.commitNow());
  }

  private commitNow(): void {
    this.cancelGather?.();
    this.cancelGather = null;
    if (this.committing || this.failed) return;
    const batch = this.pending.shift();
    if (!batch) return;
    this.committing = this.commit(batch).finally(() => {
      this.committing = null;
      if (this.pending.length > 0) this.commitSoon();
    });
  }

  private async commit(batch: Batch): Promise<void> {
    try {
      await this.parts.store.append(this.parts.run.runId, batch);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.outstanding.events -= batch.events.length;
    this.outstanding.bytes -= batch.bytes;
    this.committed = batch.events.at(-1)?.cursor ?? this.committed;
    if (batch.events.length > 0) this.parts.onCommitted(batch.events);
    if (batch.recordedSeq !== undefined) {
      this.frames.durable = batch.recordedSeq;
      this.parts.run.onRecorded?.(batch.recordedSeq);
    }
    if (this.outstanding.events <= HIGH_EVENTS * LOW_SHARE && this.outstanding.bytes <= HIGH_BYTES * LOW_SHARE)
      this.letGo();
  }

  private fail(error: unknown): void {
    this.failed = true;
    this.pending = [];
    this.outstanding = { events: 0, bytes: 0 };
    this.letGo();
    const why = error instanceof CodedError ? (error.params['reason'] ?? error.message) : String(error);
    this.parts.run.onFailed(reasonOf('storage_failed', { reason: why }));
  }

  private letGo(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}
