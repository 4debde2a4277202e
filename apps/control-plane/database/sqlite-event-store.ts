import type { EventBatch, EventPage, EventStore, StoredArtifact, StoredEvent, StoredMetric } from '@cdui/execution';
import { CodedError, type FinalMetric } from '@cdui/protocol';
import type { Database } from './database';
import { type ArtifactRow, storedArtifact } from './rows';
import { EVENTS } from './sql/sqlite';
import type { Transaction } from './writer';

/** The logs of runs in SQLite. */
export class SqliteEventStore implements EventStore {
  constructor(private readonly database: Database) {}

  append(runId: string, { events, metrics, artifacts, recordedSeq }: EventBatch): Promise<void> {
    const rows = eventRows(events);
    return this.database.write(async (tx) => {
      const lives =
        events.length > 0
          ? (await tx.run(EVENTS.append, [runId, rows])) === events.length
          : (await tx.all(EVENTS.lives, [runId])).length > 0;
      if (!lives) {
        throw new CodedError('run_not_found', `There is no run ${runId}: nothing can be stored about it`, {
          run_id: runId,
        });
      }
      if (metrics && metrics.length > 0) await appendMetrics(tx, runId, metrics);
      if (artifacts && artifacts.length > 0) await appendArtifacts(tx, runId, artifacts);
      if (recordedSeq !== undefined) await tx.run(EVENTS.recorded, [runId, recordedSeq]);
    });
  }

  async lastCursor(runId: string): Promise<number> {
    const [row] = await this.database.all<{ cursor: number }>(EVENTS.lastCursor, [runId]);
    return row!.cursor;
  }

  async read(runId: string, after: number, limit: number, capBytes: number): Promise<EventPage> {
    const events = await this.database.all<StoredEvent>(EVENTS.read, [runId, after, limit, capBytes]);
    return { events, cursor: events.at(-1)?.cursor ?? after };
  }

  async metricNames(runId: string): Promise<readonly string[]> {
    const rows = await this.database.all<{ name: string }>(EVENTS.metricNames, [runId]);
    return rows.map(({ name }) => name);
  }

  async metrics(
    runId: string,
    { name, after = 0, limit }: { readonly name?: string; readonly after?: number; readonly limit: number },
  ): Promise<{ readonly points: readonly StoredMetric[]; readonly next: number | null }> {
    // One more than asked for tells whether there are more.
    const values = [runId, after, limit + 1];
    const rows = await (name === undefined
      ? this.database.all<StoredMetric & { seq: number }>(EVENTS.metrics, values)
      : this.database.all<StoredMetric & { seq: number }>(EVENTS.metricsNamed, [...values, name]));
    const page = rows.slice(0, limit);
    return { points: page.map(metricPoint), next: rows.length > limit ? page.at(-1)!.seq : null };
  }

  async finalMetrics(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly FinalMetric[]>> {
    const rows = await this.database.all<FinalMetric & { run_id: string }>(EVENTS.finalMetrics, [
      JSON.stringify(runIds),
    ]);
    const byRun = new Map<string, FinalMetric[]>(runIds.map((id) => [id, []]));
    for (const { run_id, ...metric } of rows) byRun.get(run_id)!.push(metric);
    return byRun;
  }

  async artifacts(runId: string, kind?: string): Promise<readonly StoredArtifact[]> {
    const rows = await this.database.all<ArtifactRow>(EVENTS.artifacts, [runId]);
    return rows.filter((row) => kind === undefined || row.kind === kind).map(storedArtifact);
  }
}

/** `[[cursor, type, payload, ts], ...]` put together by hand: `JSON.stringify` would first need the arrays. */
function eventRows(events: readonly StoredEvent[]): string {
  let rows = '';
  for (const { cursor, type, payload, ts } of events) {
    rows += `${rows === '' ? '[' : ','}[${cursor},${JSON.stringify(type)},${JSON.stringify(payload)},${ts}]`;
  }
  return rows === '' ? '[]' : `${rows}]`;
}

async function appendMetrics(tx: Transaction, runId: string, metrics: readonly StoredMetric[]): Promise<void> {
  const [last] = await tx.all<{ seq: number }>(EVENTS.lastMetric, [runId]);
  const rows = metrics.map(({ node_id, name, step, value, ts }) => [node_id, name, step, value, ts]);
  await tx.run(EVENTS.appendMetrics, [runId, JSON.stringify(rows), last!.seq]);
  const series = new Map<string, unknown[]>();
  metrics.forEach(({ node_id, name, step, value }, index) => {
    const key = JSON.stringify([node_id, name]);
    const known = series.get(key);
    series.set(key, [node_id, name, known?.[2] ?? last!.seq + index + 1, step, value]);
  });
  await tx.run(EVENTS.keepSeries, [runId, JSON.stringify([...series.values()])]);
}

async function appendArtifacts(tx: Transaction, runId: string, artifacts: readonly StoredArtifact[]): Promise<void> {
  const [last] = await tx.all<{ seq: number }>(EVENTS.lastArtifact, [runId]);
  const rows = artifacts.map((artifact) => [
    artifact.id,
    artifact.kind,
    artifact.path,
    JSON.stringify(artifact.meta),
    artifact.nodeId,
    artifact.backend,
    artifact.mountLabel,
    artifact.createdAt,
  ]);
  await tx.run(EVENTS.appendArtifacts, [runId, JSON.stringify(rows), last!.seq]);
}

function metricPoint({ node_id, name, step, value, ts }: StoredMetric): StoredMetric {
  return { node_id, name, step, value, ts };
}
