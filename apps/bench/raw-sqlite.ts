import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, type Statement } from 'sqlite3';
import { RUN, frame } from './event-log';

/** The probe beside the event log: nothing but sqlite3, with the same durability, table and payloads. */
export interface RawSqlite {
  /** Builds, stringifies and inserts so many events in each commit. @returns milliseconds */
  insert(groups: readonly number[]): Promise<number>;
  /** Reads all events page by page. @returns milliseconds */
  readPages(page: number): Promise<number>;
  close(): Promise<void>;
}

export async function openRawSqlite(): Promise<RawSqlite> {
  const folder = mkdtempSync(join(tmpdir(), 'cdui-raw-'));
  const database = await new Promise<Database>((resolve, reject) => {
    const opened: Database = new Database(join(folder, 'raw.db'), (error) => (error ? reject(error) : resolve(opened)));
  });
  const exec = (sql: string): Promise<void> =>
    new Promise((resolve, reject) => database.exec(sql, (error) => (error ? reject(error) : resolve())));
  await exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32768;
    CREATE TABLE events (run_id text NOT NULL, cursor integer NOT NULL, type text NOT NULL, payload text NOT NULL, ts integer NOT NULL,
    PRIMARY KEY (run_id, cursor)) WITHOUT ROWID`);
  const statement = database.prepare(
    `INSERT INTO events SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?2)`,
  );
  const select = database.prepare(
    `SELECT cursor, type, payload, ts FROM events WHERE run_id = ?1 AND cursor > ?2 ORDER BY cursor LIMIT ?3`,
  );
  let cursor = 0;
  return {
    async insert(groups) {
      const started = performance.now();
      let committing = Promise.resolve();
      for (const size of groups) {
        const rows: unknown[] = [];
        for (let i = 0; i < size; i++) {
          const { type, payload } = frame(cursor);
          cursor += 1;
          rows.push([cursor, type, JSON.stringify(payload), Date.now()]);
        }
        const text = JSON.stringify(rows);
        // The next group is built while this one is on its way to the disk.
        await committing;
        committing = commit(exec, statement, text);
      }
      await committing;
      return performance.now() - started;
    },
    async readPages(page) {
      const started = performance.now();
      let after = 0;
      for (;;) {
        const rows = await new Promise<{ cursor: number }[]>((resolve, reject) => {
          select.all<{ cursor: number }>([RUN, after, page], (error, found) =>
            error ? reject(error) : resolve(found),
          );
        });
        if (rows.length === 0) return performance.now() - started;
        after = rows.at(-1)!.cursor;
      }
    },
    async close() {
      await new Promise<void>((resolve) => statement.finalize(() => resolve()));
      await new Promise<void>((resolve) => select.finalize(() => resolve()));
      await new Promise<void>((resolve, reject) => database.close((error) => (error ? reject(error) : resolve())));
      rmSync(folder, { recursive: true });
    },
  };
}

async function commit(exec: (sql: string) => Promise<void>, statement: Statement, rows: string): Promise<void> {
  await exec('BEGIN IMMEDIATE');
  await new Promise<void>((resolve, reject) => {
    statement.run([RUN, rows], (error: Error | null) => (error ? reject(error) : resolve()));
  });
  await exec('COMMIT');
}
