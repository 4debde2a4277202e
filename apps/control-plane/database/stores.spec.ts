import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenStores, describeStores } from '@cdui/execution/testing/store-contract';
import { Database } from './database';
import { SqliteEventStore } from './sqlite-event-store';
import { SqliteRunStore } from './sqlite-run-store';

let folders: string[] = [];

afterEach(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
  folders = [];
});

async function openIn(file: string): Promise<OpenStores> {
  const database = await Database.open(file, '3.1.0');
  return {
    runs: new SqliteRunStore(database),
    events: new SqliteEventStore(database),
    // The files as they lie there at this moment are what a killed program leaves.
    restart: async () => {
      const copy = join(newFolder(), 'codefyui.db');
      for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, copy + end);
      await database.close();
      return openIn(copy);
    },
    close: () => database.close(),
  };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cdui-stores-'));
  folders.push(folder);
  return folder;
}

describeStores('stores in SQLite', () => openIn(join(newFolder(), 'data', 'codefyui.db')));
