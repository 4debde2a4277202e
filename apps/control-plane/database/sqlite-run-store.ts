import type {
  Fingerprint,
  NewRun,
  NodeRecord,
  RunEnd,
  RunFilter,
  RunRecord,
  RunStart,
  RunStore,
} from '@cdui/execution';
import type { ActiveStatus, RunStatus } from '@cdui/protocol';
import type { Database } from './database';
import { type RunRow, runRecord } from './rows';
import { RunInserts } from './run-inserts';
import { RUNS, listRuns } from './sql/sqlite';
import type { Transaction } from './writer';

/** The rows of runs in SQLite. */
export class SqliteRunStore implements RunStore {
  private readonly inserts: RunInserts;

  constructor(private readonly database: Database) {
    this.inserts = new RunInserts(database);
  }

  insert(run: NewRun): Promise<void> {
    const values = [
      run.id,
      run.name,
      run.lane,
      JSON.stringify(run.options),
      run.queueKey,
      run.queueSeq,
      run.createdAt,
      run.gitCommit ?? null,
      run.gitDirty === undefined || run.gitDirty === null ? null : Number(run.gitDirty),
      run.pluginPins ? JSON.stringify(run.pluginPins) : null,
      run.sweepId ?? null,
      run.sweepVariant ?? null,
      run.retryOf ?? null,
      Number(run.hadSecrets ?? false),
      typeof run.graph === 'string' ? run.graph : bufferOf(run.graph),
    ];
    return this.inserts.insert(values);
  }

  start(id: string, { at, workerId, devices, facts }: RunStart): Promise<boolean> {
    return this.database.write(async (tx) => {
      const all = facts ? await merged(tx, id, facts) : null;
      return (await tx.run(RUNS.start, [id, at, workerId, JSON.stringify(devices), all])) > 0;
    });
  }

  mark(id: string, status: 'running' | 'disconnected'): Promise<boolean> {
    return this.change(RUNS.mark, [id, status]);
  }

  requeue(id: string): Promise<boolean> {
    return this.change(RUNS.requeue, [id]);
  }

  end(
    id: string,
    from: readonly ActiveStatus[],
    end: RunEnd,
    at: number,
    recordedSeq?: number,
  ): Promise<number | null> {
    const { status, error, reason, event } = end;
    const [origins, payload] = [JSON.stringify(from), JSON.stringify(event.payload)];
    return this.database.write(async (tx) => {
      const facts = reason && (await merged(tx, id, { error_reason: reason }));
      if ((await tx.run(RUNS.end, [id, origins, status, error, at, facts, recordedSeq ?? null])) === 0) return null;
      const [last] = await tx.all<{ cursor: number }>(RUNS.appendLast, [id, event.type, payload, at]);
      return last!.cursor;
    });
  }

  addFacts(id: string, facts: Readonly<Record<string, unknown>>, fingerprint?: Fingerprint): Promise<void> {
    return this.database.write(async (tx) => {
      if (fingerprint) await tx.run(RUNS.keepFingerprint, [fingerprint.digest, fingerprint.document]);
      await tx.run(RUNS.setFacts, [id, await merged(tx, id, facts), fingerprint?.digest ?? null]);
    });
  }

  addProvenance(id: string, records: readonly NodeRecord[]): Promise<void> {
    return this.database.write(async (tx) => {
      await tx.run(RUNS.keepProvenance, [id, JSON.stringify(records)]);
    });
  }

  async provenance(id: string): Promise<readonly NodeRecord[]> {
    const rows = await this.database.all<{ record: string }>(RUNS.provenance, [id]);
    return rows.map(({ record }) => JSON.parse(record) as NodeRecord);
  }

  async delete(id: string): Promise<boolean> {
    const deleted = await this.database.write(async (tx) => {
      await tx.run(RUNS.keepQueueSeq, [id]);
      if ((await tx.run(RUNS.delete, [id])) === 0) return false;
      await tx.run(RUNS.purge, [id]);
      return true;
    });
    if (deleted) this.database.purge();
    return deleted;
  }

  async surplus(keep: number, limit: number, until: number): Promise<readonly string[]> {
    const rows = await this.database.all<{ id: string }>(RUNS.surplus, [keep, limit, until]);
    return rows.map(({ id }) => id);
  }

  async get(id: string): Promise<RunRecord | null> {
    const [row] = await this.database.all<RunRow>(RUNS.get, [id]);
    return row ? runRecord(row) : null;
  }

  async graph(id: string): Promise<string | null> {
    const [row] = await this.database.all<{ graph_snapshot: string }>(RUNS.graph, [id]);
    return row?.graph_snapshot ?? null;
  }

  async list(filter: RunFilter): Promise<{ readonly rows: readonly RunRecord[]; readonly total: number }> {
    const { rows, count, values } = listRuns(filter);
    const [page, [total]] = await Promise.all([
      this.database.all<RunRow>(rows, [...values, filter.limit, filter.offset]),
      this.database.all<{ total: number }>(count, values),
    ]);
    return { rows: page.map(runRecord), total: total!.total };
  }

  async active(): Promise<readonly RunRecord[]> {
    return (await this.database.all<RunRow>(RUNS.active)).map(runRecord);
  }

  async lastQueueSeq(): Promise<number> {
    const [row] = await this.database.all<{ seq: number }>(RUNS.lastQueueSeq);
    return row!.seq;
  }

  async countByStatus(): Promise<Readonly<Partial<Record<RunStatus, number>>>> {
    const rows = await this.database.all<{ status: RunStatus; count: number }>(RUNS.countByStatus);
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  }

  private change(sql: string, values: readonly (string | number | null)[]): Promise<boolean> {
    return this.database.write(async (tx) => (await tx.run(sql, values)) > 0);
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The run's facts with these, as text. */
async function merged(tx: Transaction, id: string, facts: Readonly<Record<string, unknown>>): Promise<string> {
  const [row] = await tx.all<{ execution_facts: string | null }>(RUNS.facts, [id]);
  const before = row?.execution_facts ? (JSON.parse(row.execution_facts) as Record<string, unknown>) : {};
  return JSON.stringify({ ...before, ...facts });
}
