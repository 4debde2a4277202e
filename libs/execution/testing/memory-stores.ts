import {
  type ActiveStatus,
  CodedError,
  type FinalMetric,
  type MetricPoint,
  type RunStatus,
  isTerminal,
} from '@cdui/protocol';
import type { RunEnd } from '../lifecycle';
import type {
  EventBatch,
  EventPage,
  EventStore,
  Fingerprint,
  NewRun,
  NodeRecord,
  RunFilter,
  RunRecord,
  RunStart,
  RunStore,
  StoredArtifact,
  StoredEvent,
  StoredMetric,
} from '../stores';

interface Stored {
  record: RunRecord;
  readonly graph: string;
  readonly events: StoredEvent[];
  readonly metrics: StoredMetric[];
  readonly artifacts: StoredArtifact[];
  readonly provenance: Map<string, NodeRecord>;
}

interface State {
  readonly runs: Map<string, Stored>;
  readonly fingerprints: Map<string, string>;
  lastQueueSeq: number;
}

interface Pending {
  readonly commit: (state: State) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A database in memory that loses what a real one would: a write takes effect when it is committed, in the order of the calls, and after `crash`
 * only what was committed is there. Commits happen by themselves in a microtask, unless they are held.
 */
export class MemoryDatabase {
  readonly runs: RunStore;
  readonly events: EventStore;
  /** When set, commits fail with it as the system's reason. */
  failing: string | null = null;
  private readonly pending: Pending[] = [];
  private held = false;
  private dead = false;
  private scheduled = false;

  constructor(private readonly state: State = { runs: new Map(), fingerprints: new Map(), lastQueueSeq: 0 }) {
    this.runs = new MemoryRunStore(this);
    this.events = new MemoryEventStore(this);
  }

  /** How many writes wait for their commit. */
  get waiting(): number {
    return this.pending.length;
  }

  /** Whether writes are committed as they come. */
  get isFlowing(): boolean {
    return !this.held && this.failing === null && this.pending.length === 0;
  }

  /** Every row as committed. */
  records(): readonly RunRecord[] {
    return [...this.state.runs.values()].map(({ record }) => record);
  }

  /** From now on writes wait for `commit` or `release`. */
  hold(): void {
    this.held = true;
  }

  release(): void {
    this.held = false;
    this.commit();
  }

  /** Commits the oldest writes that wait, all of them unless told how many. */
  commit(count = Infinity): void {
    for (let i = 0; i < count && this.pending.length > 0; i++) {
      const next = this.pending.shift()!;
      if (this.failing === null) next.commit(this.state);
      else next.fail(storageFailed(this.failing));
    }
  }

  /** What a program finds that starts after this one was killed. Promises of this one never settle. */
  crash(): MemoryDatabase {
    this.dead = true;
    this.pending.length = 0;
    return new MemoryDatabase(structuredClone(this.state));
  }

  /** @internal */
  write<T>(change: (state: State) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.dead) return;
      const commit = (state: State): void => {
        try {
          resolve(change(state));
        } catch (error) {
          reject(error);
        }
      };
      this.pending.push({ commit, fail: reject });
      this.schedule();
    });
  }

  /** @internal */
  read<T>(look: (state: State) => T): Promise<T> {
    return this.dead ? new Promise<never>(() => undefined) : Promise.resolve(look(this.state));
  }

  private schedule(): void {
    if (this.held || this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      if (!this.held) this.commit();
    });
  }
}

class MemoryRunStore implements RunStore {
  constructor(private readonly database: MemoryDatabase) {}

  insert(run: NewRun): Promise<void> {
    const { graph: given, ...row } = structuredClone(run);
    const graph = typeof given === 'string' ? given : new TextDecoder().decode(given);
    return this.database.write((state) => {
      if (state.runs.has(run.id)) throw storageFailed(`run ${run.id} is there already`);
      const record = { ...DEFAULTS, ...row };
      state.runs.set(run.id, {
        record,
        graph,
        events: [],
        metrics: [],
        artifacts: [],
        provenance: new Map(),
      });
      state.lastQueueSeq = Math.max(state.lastQueueSeq, run.queueSeq);
    });
  }

  start(id: string, { at, workerId, devices, facts: given }: RunStart): Promise<boolean> {
    return this.change(id, ['queued'], (record) => ({
      ...{ status: 'running', startedAt: at, workerId, devices: [...devices], recordedSeq: 0 },
      facts: given ? { ...record.facts, ...plain(given) } : record.facts,
    }));
  }

  mark(id: string, status: 'running' | 'disconnected'): Promise<boolean> {
    return this.change(id, ['running', 'disconnected'], () => ({ status }));
  }

  requeue(id: string): Promise<boolean> {
    return this.change(id, ['running'], () => ({ status: 'queued', startedAt: null, workerId: null, devices: null }));
  }

  end(
    id: string,
    from: readonly ActiveStatus[],
    end: RunEnd,
    at: number,
    recordedSeq?: number,
  ): Promise<number | null> {
    return this.database.write((state) => {
      const run = state.runs.get(id);
      if (!run || !from.some((status) => status === run.record.status)) return null;
      const facts = end.reason ? { ...run.record.facts, error_reason: end.reason } : run.record.facts;
      const covered = recordedSeq ?? run.record.recordedSeq;
      run.record = {
        ...run.record,
        ...{ status: end.status, error: end.error, finishedAt: at, facts, recordedSeq: covered },
      };
      const cursor = lastCursor(run) + 1;
      const ts = Math.max(at, run.events.at(-1)?.ts ?? 0);
      run.events.push({ cursor, type: end.event.type, payload: JSON.stringify(end.event.payload), ts });
      return cursor;
    });
  }

  addFacts(id: string, facts: Readonly<Record<string, unknown>>, fingerprint?: Fingerprint): Promise<void> {
    return this.database.write((state) => {
      if (fingerprint) state.fingerprints.set(fingerprint.digest, fingerprint.document);
      const run = state.runs.get(id);
      if (!run) return;
      const fingerprintDigest = fingerprint?.digest ?? run.record.fingerprintDigest;
      run.record = { ...run.record, facts: { ...run.record.facts, ...plain(facts) }, fingerprintDigest };
    });
  }

  addProvenance(id: string, records: readonly NodeRecord[]): Promise<void> {
    return this.database.write((state) => {
      for (const record of records) state.runs.get(id)?.provenance.set(record.node_id, plain(record));
    });
  }

  provenance(id: string): Promise<readonly NodeRecord[]> {
    return this.database.read(({ runs }) =>
      [...(runs.get(id)?.provenance.values() ?? [])].sort((a, b) =>
        Buffer.compare(Buffer.from(a.node_id), Buffer.from(b.node_id)),
      ),
    );
  }

  delete(id: string): Promise<boolean> {
    return this.database.write((state) => {
      const run = state.runs.get(id);
      return run !== undefined && isTerminal(run.record.status) && state.runs.delete(id);
    });
  }

  surplus(keep: number, limit: number, until: number): Promise<readonly string[]> {
    return this.database.read(({ runs }) => {
      const ended = [...runs.values()].map(({ record }) => record).filter(({ status }) => isTerminal(status));
      ended.sort((a, b) => a.finishedAt! - b.finishedAt! || a.queueSeq - b.queueSeq);
      const surplus = ended.slice(0, Math.max(0, Math.min(limit, ended.length - keep)));
      return surplus.filter(({ finishedAt }) => finishedAt! <= until).map(({ id }) => id);
    });
  }

  get(id: string): Promise<RunRecord | null> {
    return this.database.read(({ runs }) => runs.get(id)?.record ?? null);
  }

  graph(id: string): Promise<string | null> {
    return this.database.read(({ runs }) => runs.get(id)?.graph ?? null);
  }

  list(filter: RunFilter): Promise<{ readonly rows: readonly RunRecord[]; readonly total: number }> {
    return this.database.read(({ runs }) => {
      const matching = [...runs.values()].map(({ record }) => record).filter((record) => matches(record, filter));
      matching.sort((a, b) => compare(a, b, filter.sort ?? 'created_at') || a.queueSeq - b.queueSeq);
      if (filter.order !== 'asc') matching.reverse();
      return { rows: matching.slice(filter.offset, filter.offset + filter.limit), total: matching.length };
    });
  }

  active(): Promise<readonly RunRecord[]> {
    return this.database.read(({ runs }) =>
      [...runs.values()]
        .map(({ record }) => record)
        .filter(({ status }) => !isTerminal(status))
        .sort((a, b) => a.queueSeq - b.queueSeq),
    );
  }

  lastQueueSeq(): Promise<number> {
    return this.database.read((state) => state.lastQueueSeq);
  }

  countByStatus(): Promise<Readonly<Partial<Record<RunStatus, number>>>> {
    return this.database.read(({ runs }) => {
      const counts: Partial<Record<RunStatus, number>> = {};
      for (const { record } of runs.values()) counts[record.status] = (counts[record.status] ?? 0) + 1;
      return counts;
    });
  }

  private change(
    id: string,
    from: readonly RunStatus[],
    change: (record: RunRecord) => Partial<RunRecord>,
  ): Promise<boolean> {
    return this.database.write((state) => {
      const run = state.runs.get(id);
      if (!run || !from.includes(run.record.status)) return false;
      run.record = { ...run.record, ...change(run.record) };
      return true;
    });
  }
}

class MemoryEventStore implements EventStore {
  constructor(private readonly database: MemoryDatabase) {}

  append(runId: string, batch: EventBatch): Promise<void> {
    const { events, metrics = [], artifacts = [], recordedSeq } = plain(batch);
    return this.database.write((state) => {
      const run = state.runs.get(runId);
      if (!run) {
        throw new CodedError('run_not_found', `There is no run ${runId}: nothing can be stored about it`, {
          run_id: runId,
        });
      }
      const known = new Set(run.events.map(({ cursor }) => cursor));
      if (events.some(({ cursor }) => known.has(cursor))) throw storageFailed('a cursor is there already');
      run.events.push(...events);
      run.metrics.push(...metrics);
      run.artifacts.push(...artifacts);
      if (recordedSeq !== undefined) run.record = { ...run.record, recordedSeq };
    });
  }

  lastCursor(runId: string): Promise<number> {
    return this.database.read(({ runs }) => lastCursor(runs.get(runId)));
  }

  read(runId: string, after: number, limit: number, capBytes: number): Promise<EventPage> {
    return this.database.read(({ runs }) => {
      const events: StoredEvent[] = [];
      let bytes = 0;
      for (const event of runs.get(runId)?.events ?? []) {
        if (event.cursor <= after) continue;
        if (events.length >= limit || (events.length > 0 && bytes >= capBytes)) break;
        events.push(event);
        bytes += new TextEncoder().encode(event.payload).length;
      }
      return { events, cursor: events.at(-1)?.cursor ?? after };
    });
  }

  metricNames(runId: string): Promise<readonly string[]> {
    return this.database.read(({ runs }) => [...new Set((runs.get(runId)?.metrics ?? []).map(({ name }) => name))]);
  }

  metrics(
    runId: string,
    { name, after = 0, limit }: { readonly name?: string; readonly after?: number; readonly limit: number },
  ): Promise<{ readonly points: readonly StoredMetric[]; readonly next: number | null }> {
    return this.database.read(({ runs }) => {
      const numbered = (runs.get(runId)?.metrics ?? []).map((point, index) => ({ point, seq: index + 1 }));
      const rest = numbered.filter(({ point, seq }) => seq > after && (name === undefined || point.name === name));
      const page = rest.slice(0, limit);
      return { points: page.map(({ point }) => point), next: rest.length > limit ? page.at(-1)!.seq : null };
    });
  }

  finalMetrics(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly FinalMetric[]>> {
    return this.database.read(
      ({ runs }) => new Map(runIds.map((id) => [id, lastOfEach(runs.get(id)?.metrics ?? [])] as const)),
    );
  }

  artifacts(runId: string, kind?: string): Promise<readonly StoredArtifact[]> {
    return this.database.read(({ runs }) =>
      (runs.get(runId)?.artifacts ?? []).filter((artifact) => kind === undefined || artifact.kind === kind),
    );
  }
}

const DEFAULTS = {
  status: 'queued',
  error: null,
  startedAt: null,
  finishedAt: null,
  workerId: null,
  devices: null,
  facts: null,
  fingerprintDigest: null,
  recordedSeq: 0,
  gitCommit: null,
  gitDirty: null,
  pluginPins: null,
  sweepId: null,
  sweepVariant: null,
  retryOf: null,
  hadSecrets: false,
} as const;

const SORT_KEYS = {
  created_at: 'createdAt',
  started_at: 'startedAt',
  finished_at: 'finishedAt',
  name: 'name',
  status: 'status',
} as const;

function matches(record: RunRecord, { status, q, workerId, sweepId }: RunFilter): boolean {
  return (
    (status === undefined || status.includes(record.status)) &&
    (!q || [record.name, record.id].some((text) => lower(text).includes(lower(q)))) &&
    (workerId === undefined || record.workerId === workerId) &&
    (sweepId === undefined || record.sweepId === sweepId)
  );
}

/** As SQLite does it: nothing comes before something, and text goes by its bytes. */
function compare(a: RunRecord, b: RunRecord, sort: keyof typeof SORT_KEYS): number {
  const [left, right] = [a[SORT_KEYS[sort]], b[SORT_KEYS[sort]]];
  if (left === right) return 0;
  if (left === null || right === null) return left === null ? -1 : 1;
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)));
}

function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function lastCursor(run: Stored | undefined): number {
  return run?.events.at(-1)?.cursor ?? 0;
}

function lastOfEach(points: readonly MetricPoint[]): FinalMetric[] {
  const last = new Map<string, FinalMetric>();
  for (const { node_id, name, step, value } of points) {
    last.set(JSON.stringify([node_id, name]), { node_id, name, step, value });
  }
  return [...last.values()];
}

function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function storageFailed(reason: string): CodedError {
  return new CodedError('storage_failed', `The database could not be used: ${reason}`, { reason });
}
