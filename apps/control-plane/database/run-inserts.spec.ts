import { join } from 'node:path';
import { newRun } from '@cdui/execution/testing/samples';
import { Database } from './database';
import { SqliteRunStore } from './sqlite-run-store';
import { temporaryFolders } from './testing/temporary';

const newFolder = temporaryFolders();
const idOf = (n: number): string => n.toString(16).padStart(32, '0');

describe('rows of runs that come at once', () => {
  let database: Database;
  let store: SqliteRunStore;
  let commits: number[];

  beforeEach(async () => {
    commits = [];
    const onCommit = (writes: number): void => void commits.push(writes);
    database = await Database.open(join(newFolder(), 'test.db'), '0.0.0', { groupMs: 60_000, onCommit });
    store = new SqliteRunStore(database);
  });

  afterEach(() => database.close());

  it('are stored by few statements, each whole and in its own row', async () => {
    const ids = Array.from({ length: 100 }, (_, n) => idOf(n));
    await Promise.all(ids.map((id, n) => store.insert(newRun(id, n, { name: `run ${n}`, graph: `{"n":${n}}` }))));
    expect(commits.reduce((sum, writes) => sum + writes, 0)).toBe(7);
    for (const [n, id] of ids.entries()) {
      expect([(await store.get(id))?.name, await store.graph(id)]).toEqual([`run ${n}`, `{"n":${n}}`]);
    }
  });

  it('take no other down when one cannot be stored', async () => {
    await store.insert(newRun(idOf(3), 3, { name: 'the first' }));
    const inserts = Array.from({ length: 10 }, (_, n) => store.insert(newRun(idOf(n), n)));
    const results = await Promise.allSettled(inserts);
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual(inserts.map((_, n) => n !== 3));
    expect((await store.active()).map(({ id }) => id).sort()).toEqual(inserts.map((_, n) => idOf(n)));
    expect((await store.get(idOf(3)))?.name).toBe('the first');
  });

  it('keep their place among other writes when one of them cannot be stored', async () => {
    const twice = [store.insert(newRun(idOf(1), 1)), store.insert(newRun(idOf(1), 2))];
    const marked = store.requeue(idOf(1));
    const started = store.start(idOf(1), { at: 5, workerId: null, devices: ['cpu'] });
    const early = store.start(idOf(2), { at: 5, workerId: null, devices: ['cpu'] });
    const late = store.insert(newRun(idOf(2), 3));
    const results = await Promise.allSettled([...twice, marked, started, early, late]);
    expect(results).toMatchObject([
      { status: 'fulfilled' },
      { reason: { code: 'storage_failed' } },
      { value: false },
      { value: true },
      { value: false },
      { status: 'fulfilled' },
    ]);
    expect([(await store.get(idOf(1)))?.queueSeq, (await store.get(idOf(2)))?.status]).toEqual([1, 'queued']);
  });

  it('are text in the database, whether they came as text or as bytes', async () => {
    const graph = '{"name":"Größe \u{1F600}","nodes":[]}';
    await Promise.all([
      store.insert(newRun(idOf(1), 1, { graph })),
      store.insert(newRun(idOf(2), 2, { graph: new TextEncoder().encode(graph) })),
    ]);
    const rows = await database.all('SELECT typeof(graph_snapshot) AS type, graph_snapshot AS graph FROM exec_runs');
    expect(rows).toEqual([
      { type: 'text', graph },
      { type: 'text', graph },
    ]);
  });

  it('are refused when the database is closed', async () => {
    await database.close();
    const results = await Promise.allSettled([store.insert(newRun(idOf(1), 1)), store.insert(newRun(idOf(2), 2))]);
    expect(results).toMatchObject([{ reason: { code: 'storage_closed' } }, { reason: { code: 'storage_closed' } }]);
  });
});
