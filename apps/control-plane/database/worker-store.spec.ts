import { join } from 'node:path';
import { Database } from './database';
import { SqliteWorkerStore } from './sqlite-worker-store';
import { temporaryFolders } from './testing/temporary';

const newFolder = temporaryFolders();

const cpu = { device: 'cpu', name: 'Processor', uuid: null, total_bytes: 1, free_bytes: 1, utilization: null };
const stored = { devices: [cpu], capabilities: ['ack'], platform: 'linux-x64', version: '3.1.0', protocolVersion: 3 };

it('remembers each worker as it was last', async () => {
  const path = join(newFolder(), 'workers.db');
  const database = await Database.open(path, '3.1.0');
  const store = new SqliteWorkerStore(database);
  await store.keep({ id: 'a', ...stored, lastSeenAt: 1 });
  await store.keep({ id: 'b', ...stored, devices: [], lastSeenAt: 2 });
  await store.keep({ id: 'a', ...stored, version: '3.2.0', lastSeenAt: 3 });
  await database.close();
  const again = await Database.open(path, '3.1.0');
  expect(await new SqliteWorkerStore(again).load()).toEqual([
    { id: 'a', ...stored, version: '3.2.0', lastSeenAt: 3 },
    { id: 'b', ...stored, devices: [], lastSeenAt: 2 },
  ]);
  await again.close();
});
