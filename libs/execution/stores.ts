import type { ActiveStatus, MetricPoint, RunStatus } from '@cdui/protocol';
import type { RunEnd } from './lifecycle';

/** A run as it was accepted. Times are milliseconds since the epoch. */
export interface NewRun {
  readonly id: string;
  readonly name: string;
  readonly lane: 'queued' | 'interactive';
  /** The graph file as JSON text or its UTF-8, secret parameters blank. */
  readonly graph: string | Uint8Array;
  /** The options as submitted, with their defaults filled in. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly queueKey: string;
  /** Its place in the order of submission; kept when it returns to the queue. */
  readonly queueSeq: number;
  readonly createdAt: number;
  readonly gitCommit?: string | null;
  readonly gitDirty?: boolean | null;
  readonly pluginPins?: Readonly<Record<string, string>> | null;
  readonly sweepId?: string | null;
  readonly sweepVariant?: number | null;
  readonly retryOf?: string | null;
  /** Whether secret parameters were taken out of the graph: it cannot be retried from the row. */
  readonly hadSecrets?: boolean;
}

/** A run's row, without its graph. */
export interface RunRecord extends Required<Omit<NewRun, 'graph'>> {
  readonly status: RunStatus;
  readonly error: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly workerId: string | null;
  readonly devices: readonly string[] | null;
  readonly facts: Readonly<Record<string, unknown>> | null;
  readonly fingerprintDigest: string | null;
  /** Of a worker's run: the newest frame all of which is stored; 0 when there is none. */
  readonly recordedSeq: number;
}

/** What a run got when it was placed. */
export interface RunStart {
  readonly at: number;
  /** Null on this server. */
  readonly workerId: string | null;
  readonly devices: readonly string[];
  /** Merged into the run's facts. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** What the results of a run may depend on: a document in canonical JSON, and its sha256. */
export interface Fingerprint {
  readonly digest: string;
  readonly document: string;
}

/** Something that is kept of a node of a run. */
export interface NodeRecord {
  readonly node_id: string;
  readonly [member: string]: unknown;
}

export interface RunFilter {
  readonly status?: readonly RunStatus[];
  /** Part of the name or the id. */
  readonly q?: string;
  readonly workerId?: string;
  readonly sweepId?: string;
  readonly sort?: 'created_at' | 'started_at' | 'finished_at' | 'name' | 'status';
  readonly order?: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

/**
 * The rows of runs. A write is durable when its promise resolves, and takes effect whole or not at all; writes take effect in the order of their
 * calls, those of the `EventStore` beside it included.
 */
export interface RunStore {
  /** @throws CodedError `storage_failed` when it could not be stored; nothing of it is then. */
  insert(run: NewRun): Promise<void>;
  /** From `queued` to `running`; frames are counted anew. @returns whether the row was waiting */
  start(id: string, start: RunStart): Promise<boolean>;
  /** Whether the worker of a run that was started is away. @returns whether the row said one of the two */
  mark(id: string, status: 'running' | 'disconnected'): Promise<boolean>;
  /** Back from `running` to `queued`, as if it had not started. @returns whether the row was running */
  requeue(id: string): Promise<boolean>;
  /**
   * Files the run and appends its last event, in one commit. @returns the event's cursor; null when the row said none of `from`, and nothing
   * was changed then.
   *
   * @param recordedSeq of a worker's run: its last frame
   */
  end(id: string, from: readonly ActiveStatus[], end: RunEnd, at: number, recordedSeq?: number): Promise<number | null>;
  /** Merges into the run's facts, and points it at a fingerprint. */
  addFacts(id: string, facts: Readonly<Record<string, unknown>>, fingerprint?: Fingerprint): Promise<void>;
  /** Keeps where the code of the run's nodes comes from, a record for each node; of two for a node the last counts. */
  addProvenance(id: string, records: readonly NodeRecord[]): Promise<void>;
  /** The records, in the order of the bytes of their node ids. */
  provenance(id: string): Promise<readonly NodeRecord[]>;
  /** Removes an ended run with all that is stored about it. @returns whether there was one that had ended */
  delete(id: string): Promise<boolean>;
  /** Ids of ended runs beyond the newest `keep` that ended at `until` or before, the oldest first; at most `limit` of them. */
  surplus(keep: number, limit: number, until: number): Promise<readonly string[]>;

  get(id: string): Promise<RunRecord | null>;
  graph(id: string): Promise<string | null>;
  list(filter: RunFilter): Promise<{ readonly rows: readonly RunRecord[]; readonly total: number }>;
  /** Every run that has not ended, in the order of submission. */
  active(): Promise<readonly RunRecord[]>;
  /** The highest `queueSeq` given so far; 0 when none was. */
  lastQueueSeq(): Promise<number>;
  countByStatus(): Promise<Readonly<Partial<Record<RunStatus, number>>>>;
}

/** An event as it is stored: from 1, without gaps, per run. */
export interface StoredEvent {
  readonly cursor: number;
  readonly type: string;
  /** JSON text, within the cap. */
  readonly payload: string;
  /** Milliseconds since the epoch. */
  readonly ts: number;
}

export interface StoredMetric extends MetricPoint {
  readonly ts: number;
}

export interface StoredArtifact {
  readonly id: string;
  readonly kind: string;
  readonly path: string;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly nodeId: string;
  readonly backend: 'local' | 'mount' | 'transfer' | 's3';
  readonly mountLabel: string | null;
  readonly createdAt: number;
}

/** What a run reports, in the order in which it takes effect; one commit holds all of a batch. */
export interface EventBatch {
  readonly events: readonly StoredEvent[];
  readonly metrics?: readonly StoredMetric[];
  readonly artifacts?: readonly StoredArtifact[];
  /** Of a worker's run: the newest frame all of which is stored with this batch. */
  readonly recordedSeq?: number | undefined;
}

export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** The last event of the page, or `after` when it is empty. */
  readonly cursor: number;
}

/** Writes as in `RunStore`, durable when the promise resolves. */
export interface EventStore {
  /** @throws CodedError `storage_failed` (with the system's reason, such as a full disk); nothing of the batch is stored then. */
  append(runId: string, batch: EventBatch): Promise<void>;
  lastCursor(runId: string): Promise<number>;
  /** At most `limit` events after the cursor and about `capBytes` of payload, but at least one event when there is any. */
  read(runId: string, after: number, limit: number, capBytes: number): Promise<EventPage>;
  metricNames(runId: string): Promise<readonly string[]>;
  /** Points in the order of recording, in pages: the position to go on from is null at the end. */
  metrics(
    runId: string,
    query: { readonly name?: string; readonly after?: number; readonly limit: number },
  ): Promise<{ readonly points: readonly StoredMetric[]; readonly next: number | null }>;
  /** The last value of every metric of each run. */
  finalMetrics(
    runIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly Pick<MetricPoint, 'node_id' | 'name' | 'step' | 'value'>[]>>;
  artifacts(runId: string, kind?: string): Promise<readonly StoredArtifact[]>;
}
