import { Connection } from '../../control-plane/database/sqlite/connection';

const TERMINAL_EVENTS = `'execution_complete', 'execution_error', 'execution_stopped'`;

/** What must hold in the database at any time, as queries whose rows are what is wrong. */
const RULES: Readonly<Record<string, string>> = {
  'cursors are not gapless from 1': `SELECT run_id, count(*) AS n, min(cursor) AS first, max(cursor) AS last FROM exec_run_events
    GROUP BY run_id HAVING first <> 1 OR last <> n`,
  'an ended run has no last event, or several': `SELECT r.id, r.status,
    (SELECT count(*) FROM exec_run_events e WHERE e.run_id = r.id AND e.type IN (${TERMINAL_EVENTS})) AS ends
    FROM exec_runs r WHERE r.status IN ('succeeded', 'failed', 'cancelled', 'interrupted') AND ends <> 1`,
  'something follows the last event': `SELECT e.run_id, e.cursor, e.type FROM exec_run_events e WHERE e.type IN (${TERMINAL_EVENTS})
    AND EXISTS (SELECT 1 FROM exec_run_events later WHERE later.run_id = e.run_id AND later.cursor > e.cursor)`,
  'the last event and the row disagree': `SELECT r.id, r.status, e.type, e.payload FROM exec_runs r
    JOIN exec_run_events e ON e.run_id = r.id AND e.type IN (${TERMINAL_EVENTS})
    WHERE NOT ((r.status = 'succeeded' AND e.type = 'execution_complete') OR (r.status = 'failed' AND e.type <> 'execution_stopped')
      OR (r.status IN ('cancelled', 'interrupted') AND e.type = 'execution_stopped' AND json_extract(e.payload, '$.reason') = r.status))`,
  'a run has its last event, and its row says that it goes on': `SELECT r.id, r.status FROM exec_runs r
    WHERE r.status IN ('queued', 'running', 'disconnected')
    AND EXISTS (SELECT 1 FROM exec_run_events e WHERE e.run_id = r.id AND e.type IN (${TERMINAL_EVENTS}))`,
  'events go back in time': `SELECT run_id, cursor FROM (SELECT run_id, cursor, ts, lag(ts) OVER (PARTITION BY run_id ORDER BY cursor) AS before
    FROM exec_run_events) WHERE before > ts`,
  'metric events and metric rows disagree': `SELECT r.id,
    (SELECT coalesce(sum(json_array_length(e.payload, '$.points')), 0) FROM exec_run_events e WHERE e.run_id = r.id AND e.type = 'metric') AS told,
    (SELECT count(*) FROM exec_run_metrics m WHERE m.run_id = r.id) AS kept FROM exec_runs r WHERE told <> kept`,
  'artifact events and artifact rows disagree': `SELECT r.id,
    (SELECT count(*) FROM exec_run_events e WHERE e.run_id = r.id AND e.type = 'artifact') AS told,
    (SELECT count(*) FROM exec_run_artifacts a WHERE a.run_id = r.id) AS kept FROM exec_runs r WHERE told <> kept`,
  'events belong to no run': `SELECT DISTINCT run_id FROM exec_run_events WHERE run_id NOT IN (SELECT id FROM exec_runs)`,
};

/** What is still going on after a start, though whatever did it is gone. */
const ACTIVE = `SELECT id, status FROM exec_runs WHERE status IN ('queued', 'running', 'disconnected')`;

/** Reads a server's database beside it, as somebody who doubts it. */
export class StoredRuns {
  private constructor(private readonly database: Connection) {}

  static async open(file: string): Promise<StoredRuns> {
    return new StoredRuns(await Connection.open(file, 'query', 10_000));
  }

  /** Everything that is wrong with the file and its rows. */
  async violations(): Promise<readonly string[]> {
    const integrity = await this.database.all<{ integrity_check: string }>('PRAGMA integrity_check');
    const broken = integrity.map((row) => row.integrity_check).filter((word) => word !== 'ok');
    const rules = await Promise.all(
      Object.entries(RULES).map(async ([rule, sql]) =>
        (await this.database.all(sql)).slice(0, 3).map((row) => `${rule}: ${JSON.stringify(row)}`),
      ),
    );
    return [...broken.map((word) => `integrity_check: ${word}`), ...rules.flat()];
  }

  async active(): Promise<readonly { readonly id: string; readonly status: string }[]> {
    return this.database.all(ACTIVE);
  }

  async status(id: string): Promise<string | null> {
    const [row] = await this.database.all<{ status: string }>('SELECT status FROM exec_runs WHERE id = ?', [id]);
    return row?.status ?? null;
  }

  async event(id: string, cursor: number): Promise<{ readonly type: string; readonly payload: string } | null> {
    const sql = 'SELECT type, payload FROM exec_run_events WHERE run_id = ? AND cursor = ?';
    const [row] = await this.database.all<{ type: string; payload: string }>(sql, [id, cursor]);
    return row ?? null;
  }

  async count(): Promise<{ readonly runs: number; readonly events: number }> {
    const sql = 'SELECT (SELECT count(*) FROM exec_runs) AS runs, (SELECT count(*) FROM exec_run_events) AS events';
    return (await this.database.all<{ runs: number; events: number }>(sql))[0]!;
  }

  close(): Promise<void> {
    return this.database.close();
  }
}
