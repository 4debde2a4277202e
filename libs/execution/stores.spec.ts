import { MemoryDatabase } from './testing/memory-stores';
import { type OpenStores, describeStores, newRun, storedEvent } from './testing/store-contract';

function stores(database: MemoryDatabase): OpenStores {
  return {
    runs: database.runs,
    events: database.events,
    restart: () => Promise.resolve(stores(database.crash())),
    close: () => Promise.resolve(),
  };
}

describeStores('stores in memory', () => Promise.resolve(stores(new MemoryDatabase())));

describe('a database in memory', () => {
  it('loses in a crash what was not committed', async () => {
    const database = new MemoryDatabase();
    await database.runs.insert(newRun('a', 1));
    database.hold();
    let acknowledged = false;
    void database.runs.insert(newRun('b', 2)).then(() => (acknowledged = true));
    void database.events.append('a', { events: [storedEvent(1)] });
    database.commit(0);
    const after = database.crash();
    database.release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(acknowledged).toBe(false);
    expect((await after.runs.active()).map(({ id }) => id)).toEqual(['a']);
    expect(await after.events.lastCursor('a')).toBe(0);
  });

  it('refuses writes while it fails, and recovers', async () => {
    const database = new MemoryDatabase();
    database.failing = 'disk full';
    await expect(database.runs.insert(newRun('a', 1))).rejects.toMatchObject({
      code: 'storage_failed',
      params: { reason: 'disk full' },
    });
    database.failing = null;
    await database.runs.insert(newRun('a', 1));
    expect(await database.runs.get('a')).toMatchObject({ status: 'queued' });
  });
});
