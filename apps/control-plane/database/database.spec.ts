import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ending, newRun, storedEvent } from '@cdui/execution/testing/store-contract';
import { backUp } from './backup';
import { Database } from './database';
import { MIGRATIONS, dataSource } from './schema/data-source';
import { prepareDatabase } from './schema/prepare';
import { SCHEMA_VERSION } from './schema/version';
import { Connection } from './sqlite/connection';
import { SqliteEventStore } from './sqlite-event-store';
import { SqliteRunStore } from './sqlite-run-store';
import { temporaryFolders } from './testing/temporary';

const newFolder = temporaryFolders();
const newFile = (): string => join(newFolder(), 'codefyui.db');
const digest = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

async function sql(file: string, text: string): Promise<unknown[]> {
  const connection = await Connection.open(file, 'write', 1000);
  try {
    return await connection.all(text);
  } finally {
    await connection.close();
  }
}

/** A database with one run and so many events of it. */
async function filled(file: string, events: number): Promise<Database> {
  const database = await Database.open(file, '3.1.0');
  await new SqliteRunStore(database).insert(newRun('r', 1));
  const store = new SqliteEventStore(database);
  for (let first = 1; first <= events; first += 10_000) {
    const length = Math.min(10_000, events - first + 1);
    await store.append('r', { events: Array.from({ length }, (_, i) => storedEvent(first + i)) });
  }
  return database;
}

describe('opening the database', () => {
  it('creates every table of the specification', async () => {
    const file = newFile();
    await (await Database.open(file, '3.1.0')).close();
    const tables = (await sql(file, `SELECT name FROM sqlite_schema WHERE type = 'table'`)).map(
      (row) => (row as { name: string }).name,
    );
    expect(tables).toEqual(
      expect.arrayContaining([
        'exec_runs',
        'exec_run_metrics',
        'exec_run_events',
        'exec_run_artifacts',
        'file_hashes',
        'workers',
        'worker_enrollments',
        'exec_run_fingerprints',
        'exec_run_provenance',
      ]),
    );
  });

  it('has a schema number that counts the migrations', () => {
    expect(SCHEMA_VERSION).toBe(MIGRATIONS.length);
  });

  it('opens what it created without changing it', async () => {
    const file = newFile();
    await (await filled(file, 3)).close();
    const before = digest(file);
    await (await Database.open(file, '3.2.0')).close();
    expect(digest(file)).toBe(before);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  it('refuses a database of a newer version by both versions, and leaves it untouched', async () => {
    const file = newFile();
    await (await filled(file, 3)).close();
    await sql(file, `PRAGMA user_version = ${SCHEMA_VERSION + 4}`);
    await sql(file, `UPDATE database_info SET value = '9.9.0' WHERE key = 'program_version'`);
    const before = digest(file);
    await expect(Database.open(file, '3.1.0')).rejects.toMatchObject({
      code: 'database_newer',
      message: expect.stringMatching(/9\.9\.0.*3\.1\.0/) as string,
      params: { schema: SCHEMA_VERSION + 4, known: SCHEMA_VERSION },
    });
    expect(digest(file)).toBe(before);
  });

  it.each(['another program’s database', 'text'])('refuses %s, and leaves it untouched', async (kind) => {
    const file = newFile();
    if (kind === 'text') writeFileSync(file, 'dear diary'.repeat(1000));
    else await sql(file, 'CREATE TABLE runs (id)');
    const before = digest(file);
    await expect(Database.open(file, '3.1.0')).rejects.toMatchObject({ code: 'database_foreign' });
    expect(digest(file)).toBe(before);
  });

  it('says what is wrong when the file cannot be made', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'data'), '');
    await expect(Database.open(join(folder, 'data', 'codefyui.db'), '3.1.0')).rejects.toThrow(/data/);
  });

  it('leaves nothing half made when a migration fails', async () => {
    const file = newFile();
    const source = await dataSource(file).initialize();
    await source.destroy();
    // The last of the statements finds its table there already.
    await sql(file, 'CREATE TABLE worker_enrollments (id)');
    await sql(file, 'PRAGMA application_id = 1667528041');
    await expect(prepareDatabase(file, '3.1.0')).rejects.toThrow(/worker_enrollments/);
    const tables = await sql(file, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'exec%'`);
    expect(tables).toEqual([]);
    expect(await sql(file, 'PRAGMA user_version')).toEqual([{ user_version: 0 }]);
  });

  it('lets two starts at once make one database', async () => {
    const file = newFile();
    await Promise.all([prepareDatabase(file, '3.1.0'), prepareDatabase(file, '3.1.0')]);
    expect(await sql(file, 'PRAGMA user_version')).toEqual([{ user_version: SCHEMA_VERSION }]);
  });
});

describe('the database', () => {
  it('keeps its readers from writing', async () => {
    const database = await Database.open(newFile(), '3.1.0');
    await expect(database.all(`DELETE FROM exec_runs`)).rejects.toMatchObject({ code: 'storage_failed' });
    await database.close();
  });

  it('writes while a long read goes on', async () => {
    const database = await filled(newFile(), 200_000);
    const order: string[] = [];
    // Reads every row, and sorts them without an index.
    const read = database
      .all(`SELECT count(*) AS n FROM (SELECT payload FROM exec_run_events ORDER BY payload || ts LIMIT -1 OFFSET 1)`)
      .then(() => order.push('read'));
    await new SqliteEventStore(database).append('r', { events: [storedEvent(200_001)] });
    order.push('written');
    await read;
    expect(order).toEqual(['written', 'read']);
    await database.close();
  });

  it('hides a deleted run at once, and removes its log piece by piece between other writes', async () => {
    const file = newFile();
    const database = await filled(file, 60_000);
    const runs = new SqliteRunStore(database);
    await runs.end('r', ['queued'], ending(), 1);
    const before = statSync(file).size;
    expect(await runs.delete('r')).toBe(true);
    expect(await new SqliteEventStore(database).lastCursor('r')).toBe(0);
    const left = async (): Promise<number> =>
      (await database.all<{ n: number }>('SELECT count(*) AS n FROM exec_run_events'))[0]!.n;
    // Another write gets its turn long before all is gone.
    await runs.insert(newRun('next', 2));
    expect(await left()).toBeGreaterThan(0);
    await database.idle();
    expect(await left()).toBe(0);
    expect(await database.all('SELECT * FROM exec_run_purges')).toEqual([]);
    expect(before).toBeGreaterThan(0);
    await database.close();
  });

  it('goes on removing what was deleted before the last stop', async () => {
    const file = newFile();
    const first = await filled(file, 10);
    await new SqliteRunStore(first).end('r', ['queued'], ending(), 1);
    await first.write(async (tx) => {
      await tx.run(`DELETE FROM exec_runs`);
      await tx.run(`INSERT INTO exec_run_purges VALUES ('r')`);
    });
    await first.close();
    const second = await Database.open(file, '3.1.0');
    await second.idle();
    expect(await second.all('SELECT * FROM exec_run_events')).toEqual([]);
    await second.close();
  });

  it('keeps its log small while readers come and go', async () => {
    const file = newFile();
    const database = await Database.open(file, '3.1.0', { walMaxBytes: 4 * 1024 * 1024 });
    await new SqliteRunStore(database).insert(newRun('r', 1));
    const store = new SqliteEventStore(database);
    let [largest, reading, pages] = [0, true, 0];
    const reader = (async () => {
      let after = 0;
      while (reading) {
        const page = await store.read('r', after, 500, 1_000_000);
        after = page.events.length === 500 ? page.cursor : 0;
        pages += 1;
      }
    })();
    for (let first = 1; first <= 200_000; first += 200) {
      await store.append('r', {
        events: Array.from({ length: 200 }, (_, i) => storedEvent(first + i, 'x'.repeat(100))),
      });
      largest = Math.max(largest, statSync(`${file}-wal`).size);
    }
    reading = false;
    await reader;
    await database.close();
    expect(pages).toBeGreaterThan(100);
    expect(largest).toBeLessThan(24 * 1024 * 1024);
    expect(existsSync(`${file}-wal`)).toBe(false);
  });
});

describe('a backup', () => {
  it('is a whole database as of one moment, made while the server writes', async () => {
    const file = newFile();
    const database = await filled(file, 20_000);
    const target = join(newFolder(), 'copy.db');
    const store = new SqliteEventStore(database);
    let [writing, cursor] = [true, 20_000];
    const writer = (async () => {
      while (writing) await store.append('r', { events: [storedEvent(++cursor), storedEvent(++cursor)] });
    })();
    await backUp(file, target).finally(() => (writing = false));
    await writer;
    await database.close();
    expect(await sql(target, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    const copy = await Database.open(target, '3.1.0');
    const [row] = await copy.all<{ n: number; last: number }>(
      'SELECT count(*) AS n, max(cursor) AS last FROM exec_run_events',
    );
    expect(row!.n).toBe(row!.last);
    expect(row!.n % 2).toBe(0);
    expect(row!.n).toBeGreaterThanOrEqual(20_000);
    await copy.close();
  });

  it('makes no folders, and takes nothing but the name of a file', async () => {
    const file = newFile();
    await (await Database.open(file, '3.1.0')).close();
    const folder = newFolder();
    for (const target of [join(folder, 'not', 'there.db'), folder, '', ' ']) {
      await expect(backUp(file, target, { replace: true })).rejects.toMatchObject({ code: 'backup_not_made' });
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('replaces a file only when told to, and leaves no other behind', async () => {
    const file = newFile();
    await (await filled(file, 10)).close();
    const folder = newFolder();
    const target = join(folder, 'copy.db');
    writeFileSync(target, 'precious');
    await expect(backUp(file, target)).rejects.toMatchObject({ code: 'backup_exists' });
    expect(readFileSync(target, 'utf8')).toBe('precious');
    await backUp(file, target, { replace: true });
    expect(readdirSync(folder)).toEqual(['copy.db']);
    await expect(backUp(file, file, { replace: true })).rejects.toMatchObject({ code: 'backup_exists' });
    await expect(backUp(join(folder, 'none.db'), join(folder, 'x.db'))).rejects.toMatchObject({
      code: 'database_missing',
    });
    expect(readdirSync(folder)).toEqual(['copy.db']);
  });
});
