import { join } from 'node:path';
import * as fc from 'fast-check';
import { times } from '../../../testing/long';
import { Connection } from './sqlite/connection';
import { temporaryFolders } from './testing/temporary';
import { Writer } from './writer';

const newFolder = temporaryFolders();

interface Fixture {
  readonly file: string;
  readonly writer: Writer;
  /** Another process's view. */
  readonly other: Connection;
  readonly commits: number[];
}

let open: Fixture[] = [];

afterEach(async () => {
  for (const { writer, other } of open) {
    await writer.close();
    await other.close();
  }
  open = [];
});

async function make(options: Parameters<typeof Writer.open>[1] = {}): Promise<Fixture> {
  const file = join(newFolder(), 'test.db');
  const commits: number[] = [];
  const writer = await Writer.open(file, { onCommit: (writes) => commits.push(writes), ...options });
  await writer.write((tx) => tx.run('CREATE TABLE t (n integer PRIMARY KEY, text text)'));
  const fixture = { file, writer, other: await Connection.open(file, 'query', 0), commits };
  open.push(fixture);
  return fixture;
}

const insert = (writer: Writer, n: number): Promise<number> =>
  writer.write((tx) => tx.run('INSERT INTO t (n) VALUES (?)', [n]));
const stored = async (connection: Connection): Promise<unknown[]> =>
  (await connection.all<{ n: number }>('SELECT n FROM t ORDER BY n')).map(({ n }) => n);

describe('the writer', () => {
  it('resolves a write when others can see it', async () => {
    const { writer, other } = await make();
    await insert(writer, 1);
    expect(await stored(other)).toEqual([1]);
  });

  it('commits what is written together as one group', async () => {
    const { writer, other, commits } = await make({ groupMs: 60_000 });
    commits.length = 0;
    await Promise.all(Array.from({ length: 200 }, (_, n) => insert(writer, n)));
    expect(await stored(other)).toHaveLength(200);
    expect(commits).toEqual([200]);
  });

  it('undoes a write that fails, alone and whole', async () => {
    const { writer, other } = await make();
    const first = insert(writer, 1);
    const bad = writer.write(async (tx) => {
      await tx.run('INSERT INTO t (n) VALUES (2)');
      await tx.run('INSERT INTO t (n) VALUES (1)');
    });
    const thrown = writer.write(async (tx) => {
      await tx.run('INSERT INTO t (n) VALUES (3)');
      throw new Error('not SQLite');
    });
    const last = insert(writer, 4);
    await expect(bad).rejects.toMatchObject({ code: 'storage_failed', params: { code: 'SQLITE_CONSTRAINT' } });
    await expect(thrown).rejects.toThrow('not SQLite');
    await Promise.all([first, last]);
    expect(await stored(other)).toEqual([1, 4]);
  });

  it('lets each write see those before it, also in its group, and no half of another', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), fc.nat(3)), { minLength: 1, maxLength: 60 }), async (steps) => {
        const { writer, other } = await make();
        let expected = 0;
        const all = steps.map(async ([fails, waits]) => {
          const before = expected;
          if (!fails) expected += 2;
          const work = writer.write(async (tx) => {
            const [row] = await tx.all<{ count: number }>('SELECT count(*) AS count FROM t');
            expect(row!.count).toBe(before);
            for (let i = 0; i < 2; i++) await tx.run('INSERT INTO t (text) VALUES (?)', ['x']);
            for (let i = 0; i < waits; i++) await Promise.resolve();
            if (fails) throw new Error('undo');
          });
          await (fails ? expect(work).rejects.toThrow('undo') : work);
        });
        await Promise.all(all);
        expect(await stored(other)).toHaveLength(expected);
      }),
      { numRuns: times(15, 200) },
    );
  });

  it('waits for another process that holds the database, and loses nothing', async () => {
    const { writer, other } = await make({ busyTimeoutMs: 20 });
    await other.exec('BEGIN IMMEDIATE; INSERT INTO t (n) VALUES (100)');
    let done = 0;
    const writes = Array.from({ length: 50 }, async (_, n) => {
      await insert(writer, n);
      done += 1;
    });
    // Its own waiting is over many times by the time the other one is done.
    await held(2000);
    expect(done).toBe(0);
    await other.exec('COMMIT');
    await Promise.all(writes);
    expect(await stored(other)).toEqual([...Array.from({ length: 50 }, (_, n) => n), 100]);
  });

  it('says why when the patience is over, and works on when the database is free', async () => {
    const { writer, other } = await make({ busyTimeoutMs: 1, patienceMs: 100 });
    await other.exec('BEGIN IMMEDIATE');
    const writes = [insert(writer, 1), insert(writer, 2)];
    for (const write of writes) {
      await expect(write).rejects.toMatchObject({ code: 'storage_failed', params: { code: 'SQLITE_BUSY' } });
    }
    await other.exec('ROLLBACK');
    await insert(writer, 3);
    expect(await stored(other)).toEqual([3]);
  });

  it('takes nothing after it is closed, and commits before it closes what it was given', async () => {
    const { writer, other } = await make();
    const last = insert(writer, 1);
    const closing = writer.close();
    await expect(insert(writer, 2)).rejects.toMatchObject({ code: 'storage_closed' });
    await Promise.all([last, closing]);
    expect(await stored(other)).toEqual([1]);
    open = open.filter((fixture) => fixture.writer !== writer);
    await other.close();
  });

  it('acknowledges only what the disk has', async () => {
    const { writer } = await make();
    const pragmas = await writer.write(async (tx) => [
      await tx.all('PRAGMA synchronous'),
      await tx.all('PRAGMA journal_mode'),
      await tx.all('PRAGMA foreign_keys'),
    ]);
    // 2 is FULL.
    expect(pragmas).toEqual([[{ synchronous: 2 }], [{ journal_mode: 'wal' }], [{ foreign_keys: 1 }]]);
  });
});

/** Another process keeps what it has for so long: what this is about is time itself. */
function held(ms: number): Promise<void> {
  const until = performance.now() + ms;
  return new Promise((resolve) => {
    const look = (): void => void (performance.now() >= until ? resolve() : setImmediate(look));
    look();
  });
}
