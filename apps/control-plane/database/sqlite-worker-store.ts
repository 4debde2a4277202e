import type { DeviceFacts } from '@cdui/protocol';
import type { StoredWorker, WorkerStore } from '../workers/world';
import type { Database } from './database';
import { WORKERS } from './sql/sqlite';

interface WorkerTableRow {
  readonly id: string;
  readonly devices: string | null;
  readonly capabilities: string | null;
  readonly platform: string | null;
  readonly version: string | null;
  readonly protocol_version: number | null;
  readonly last_seen_at: number | null;
}

/** The workers that were ever connected, in SQLite. */
export class SqliteWorkerStore implements WorkerStore {
  constructor(private readonly database: Database) {}

  async load(): Promise<readonly StoredWorker[]> {
    const rows = await this.database.all<WorkerTableRow>(WORKERS.all);
    return rows.map((row) => ({
      id: row.id,
      devices: JSON.parse(row.devices ?? '[]') as readonly DeviceFacts[],
      capabilities: JSON.parse(row.capabilities ?? '[]') as readonly string[],
      platform: row.platform,
      version: row.version,
      protocolVersion: row.protocol_version,
      lastSeenAt: row.last_seen_at,
    }));
  }

  keep(worker: StoredWorker): Promise<void> {
    const { id, devices, capabilities, platform, version, protocolVersion, lastSeenAt } = worker;
    const [offered, spoken] = [JSON.stringify(devices), JSON.stringify(capabilities)];
    const values = [id, offered, spoken, platform, version, protocolVersion, lastSeenAt ?? 0];
    return this.database.write(async (tx) => {
      await tx.run(WORKERS.keep, values);
    });
  }
}
