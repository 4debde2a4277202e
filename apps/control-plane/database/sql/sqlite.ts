import type { RunFilter } from '@cdui/execution';
import type { SqlValue } from '../sqlite/connection';

/**
 * Every statement of the stores, in SQLite's dialect. A test asks the query planner about each of those that read. Rows come in as one JSON
 * parameter: that is faster than any number of parameters, and one prepared statement serves batches of all sizes.
 */

const RUN_COLUMNS = `id, name, lane, options, status, error, queue_key, queue_seq, created_at, started_at, finished_at,
  worker_id, devices, git_commit, git_dirty, plugin_pins, sweep_id, sweep_variant, retry_of, had_secrets, fingerprint_digest, execution_facts,
  recorded_seq`;

/** As the partial index of ended runs has it, to the letter: only then it is used. */
const ENDED = `status IN ('succeeded', 'failed', 'cancelled', 'interrupted')`;

const ROW = `(?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS TEXT))`;
const inserts: string[] = [];

/** A statement that stores so many runs, which wait. */
export function insertRuns(rows: number): string {
  return (inserts[rows] ??=
    `INSERT INTO exec_runs (id, name, lane, options, status, queue_key, queue_seq, created_at, git_commit, git_dirty, plugin_pins, sweep_id,
    sweep_variant, retry_of, had_secrets, graph_snapshot)
    VALUES ${Array.from({ length: rows }, () => ROW).join(', ')}`);
}

export const RUNS = {
  start: `UPDATE exec_runs SET status = 'running', started_at = ?2, worker_id = ?3, devices = ?4, recorded_seq = 0,
    execution_facts = coalesce(?5, execution_facts) WHERE id = ?1 AND status = 'queued'`,
  mark: `UPDATE exec_runs SET status = ?2 WHERE id = ?1 AND status IN ('running', 'disconnected')`,
  requeue: `UPDATE exec_runs SET status = 'queued', started_at = NULL, worker_id = NULL, devices = NULL WHERE id = ?1 AND status = 'running'`,
  end: `UPDATE exec_runs SET status = ?3, error = ?4, finished_at = ?5, execution_facts = coalesce(?6, execution_facts),
    recorded_seq = coalesce(?7, recorded_seq) WHERE id = ?1 AND status IN (SELECT value FROM json_each(?2))`,
  appendLast: `INSERT INTO exec_run_events (run_id, cursor, type, payload, ts)
    SELECT ?1, coalesce(last.cursor, 0) + 1, ?2, ?3, max(?4, coalesce(last.ts, 0)) FROM (SELECT 1)
    LEFT JOIN (SELECT cursor, ts FROM exec_run_events WHERE run_id = ?1 ORDER BY cursor DESC LIMIT 1) AS last ON true
    RETURNING cursor`,
  facts: `SELECT execution_facts FROM exec_runs WHERE id = ?1`,
  setFacts: `UPDATE exec_runs SET execution_facts = ?2, fingerprint_digest = coalesce(?3, fingerprint_digest) WHERE id = ?1`,
  keepFingerprint: `INSERT INTO exec_run_fingerprints (digest, document) VALUES (?1, ?2) ON CONFLICT DO NOTHING`,
  keepProvenance: `INSERT INTO exec_run_provenance (run_id, node_id, record)
    SELECT ?1, json_extract(value, '$.node_id'), value FROM json_each(?2) WHERE EXISTS (SELECT 1 FROM exec_runs WHERE id = ?1)
    ON CONFLICT (run_id, node_id) DO UPDATE SET record = excluded.record`,
  provenance: `SELECT record FROM exec_run_provenance WHERE run_id = ?1 ORDER BY node_id`,
  keepQueueSeq: `INSERT INTO exec_sequences (name, value) SELECT 'queue_seq', queue_seq FROM exec_runs WHERE id = ?1
    ON CONFLICT DO UPDATE SET value = max(value, excluded.value)`,
  delete: `DELETE FROM exec_runs WHERE id = ?1 AND ${ENDED}`,
  purge: `INSERT INTO exec_run_purges (run_id) VALUES (?1) ON CONFLICT DO NOTHING`,
  surplus: `SELECT id FROM exec_runs INDEXED BY exec_runs_ended WHERE ${ENDED} AND finished_at <= ?3 ORDER BY finished_at, queue_seq
    LIMIT max(0, min(?2, (SELECT count(*) FROM exec_runs INDEXED BY exec_runs_ended WHERE ${ENDED}) - ?1))`,
  get: `SELECT ${RUN_COLUMNS} FROM exec_runs WHERE id = ?1`,
  graph: `SELECT graph_snapshot FROM exec_runs WHERE id = ?1`,
  active: `SELECT ${RUN_COLUMNS} FROM exec_runs WHERE status IN ('queued', 'running', 'disconnected') ORDER BY queue_seq`,
  lastQueueSeq: `SELECT max(coalesce((SELECT max(queue_seq) FROM exec_runs), 0), coalesce((SELECT value FROM exec_sequences WHERE name = 'queue_seq'), 0)) AS seq`,
  countByStatus: `SELECT status, count(*) AS count FROM exec_runs GROUP BY status`,
} as const;

const SORTS = {
  created_at: 'created_at',
  started_at: 'started_at',
  finished_at: 'finished_at',
  name: 'name',
  status: 'status',
} as const;

/** The rows that a filter lets through, and their number. Only what the filter names is part of the statement. */
export function listRuns(filter: RunFilter): {
  readonly rows: string;
  readonly count: string;
  readonly values: SqlValue[];
} {
  const values: SqlValue[] = [];
  const conditions: string[] = [];
  const add = (condition: (place: string) => string, value: SqlValue): void => {
    values.push(value);
    conditions.push(condition(`?${values.length}`));
  };
  if (filter.status) add((place) => `status IN (SELECT value FROM json_each(${place}))`, JSON.stringify(filter.status));
  if (filter.q) {
    add(
      (place) => `rowid IN (SELECT rowid FROM exec_runs INDEXED BY exec_runs_by_name
        WHERE instr(lower(name), lower(${place})) > 0 OR instr(id, lower(${place})) > 0)`,
      filter.q,
    );
  }
  if (filter.workerId !== undefined) add((place) => `worker_id = ${place}`, filter.workerId);
  if (filter.sweepId !== undefined) add((place) => `sweep_id = ${place}`, filter.sweepId);
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const order = filter.order === 'asc' ? 'ASC' : 'DESC';
  const by = `${SORTS[filter.sort ?? 'created_at']} ${order}, queue_seq ${order}`;
  return {
    rows: `SELECT ${RUN_COLUMNS} FROM exec_runs ${where} ORDER BY ${by} LIMIT ?${values.length + 1} OFFSET ?${values.length + 2}`,
    count: `SELECT count(*) AS total FROM exec_runs ${where}`,
    values,
  };
}

/** What is stored of a run is not shown any more when its row is gone, and goes piece by piece. */
const LIVES = `EXISTS (SELECT 1 FROM exec_runs WHERE id = ?1)`;

export const EVENTS = {
  append: `INSERT INTO exec_run_events (run_id, cursor, type, payload, ts)
    SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?2) WHERE ${LIVES}`,
  lives: `SELECT 1 FROM exec_runs WHERE id = ?1`,
  recorded: `UPDATE exec_runs SET recorded_seq = ?2 WHERE id = ?1`,
  lastMetric: `SELECT coalesce(max(seq), 0) AS seq FROM exec_run_metrics WHERE run_id = ?1`,
  appendMetrics: `INSERT INTO exec_run_metrics (run_id, seq, node_id, name, step, value, ts)
    SELECT ?1, ?3 + key + 1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?2)`,
  keepSeries: `INSERT INTO exec_run_series (run_id, node_id, name, first_seq, step, value)
    SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(?2) WHERE true
    ON CONFLICT DO UPDATE SET step = excluded.step, value = excluded.value`,
  lastArtifact: `SELECT coalesce(max(seq), 0) AS seq FROM exec_run_artifacts WHERE run_id = ?1`,
  appendArtifacts: `INSERT INTO exec_run_artifacts (run_id, seq, id, kind, path, meta, node_id, backend, mount_label, created_at)
    SELECT ?1, ?3 + key + 1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7
    FROM json_each(?2)`,
  lastCursor: `SELECT coalesce(max(cursor), 0) AS cursor FROM exec_run_events WHERE run_id = ?1 AND ${LIVES}`,
  /** Sums up sizes first, which touches no payload, so that a page of large events is as small as one of many. */
  read: `WITH sizes AS MATERIALIZED (
      SELECT cursor, octet_length(payload) AS bytes FROM exec_run_events WHERE run_id = ?1 AND cursor > ?2 AND ${LIVES} ORDER BY cursor LIMIT ?3
    ), page AS MATERIALIZED (
      SELECT max(cursor) AS last FROM (SELECT cursor, sum(bytes) OVER (ORDER BY cursor) - bytes AS before FROM sizes) WHERE before < max(?4, 1)
    )
    SELECT cursor, type, payload, ts FROM exec_run_events WHERE run_id = ?1 AND cursor > ?2 AND cursor <= (SELECT last FROM page) ORDER BY cursor`,
  metricNames: `SELECT name FROM exec_run_series WHERE run_id = ?1 AND ${LIVES} GROUP BY name ORDER BY min(first_seq)`,
  metrics: `SELECT seq, node_id, name, step, value, ts FROM exec_run_metrics WHERE run_id = ?1 AND seq > ?2 AND ${LIVES} ORDER BY seq LIMIT ?3`,
  metricsNamed: `SELECT seq, node_id, name, step, value, ts FROM exec_run_metrics
    WHERE run_id = ?1 AND seq > ?2 AND name = ?4 AND ${LIVES} ORDER BY seq LIMIT ?3`,
  finalMetrics: `SELECT run_id, node_id, name, step, value FROM exec_run_series
    WHERE run_id IN (SELECT id FROM exec_runs WHERE id IN (SELECT value FROM json_each(?1))) ORDER BY run_id, first_seq`,
  artifacts: `SELECT id, kind, path, meta, node_id, backend, mount_label, created_at FROM exec_run_artifacts
    WHERE run_id = ?1 AND ${LIVES} ORDER BY seq`,
} as const;

export const WORKERS = {
  all: `SELECT id, devices, capabilities, platform, version, protocol_version, last_seen_at FROM workers WHERE revoked_at IS NULL`,
  keep: `INSERT INTO workers (id, name, kind, devices, capabilities, platform, version, protocol_version, created_at, last_seen_at)
    VALUES (?1, ?1, 'session', ?2, ?3, ?4, ?5, ?6, ?7, ?7)
    ON CONFLICT (id) DO UPDATE SET devices = excluded.devices, capabilities = excluded.capabilities, platform = excluded.platform,
    version = excluded.version, protocol_version = excluded.protocol_version, last_seen_at = excluded.last_seen_at`,
} as const;

/** The tables that hold a run's log, and what orders their rows. */
export const PURGES = {
  next: `SELECT run_id FROM exec_run_purges LIMIT 1`,
  done: `DELETE FROM exec_run_purges WHERE run_id = ?1`,
  slices: [
    slice('exec_run_events', 'cursor'),
    slice('exec_run_metrics', 'seq'),
    slice('exec_run_artifacts', 'seq'),
    `DELETE FROM exec_run_series WHERE run_id = ?1 AND ?2 > 0`,
    `DELETE FROM exec_run_provenance WHERE run_id = ?1 AND ?2 > 0`,
  ],
} as const;

function slice(table: string, order: string): string {
  return `DELETE FROM ${table} WHERE run_id = ?1 AND ${order} IN (SELECT ${order} FROM ${table} WHERE run_id = ?1 ORDER BY ${order} LIMIT ?2)`;
}
