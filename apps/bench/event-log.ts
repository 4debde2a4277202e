import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventBatch, EventStore, NodeEvent } from '@cdui/execution';
import { Database } from '../control-plane/database/database';
import { SqliteEventStore } from '../control-plane/database/sqlite-event-store';
import { SqliteRunStore } from '../control-plane/database/sqlite-run-store';
import { FileConsoleLogs } from '../control-plane/events/file-console-logs';
import { StoredEventLog } from '../control-plane/events/stored-event-log';
import { systemClock } from '../control-plane/system/world';

export const RUN = '0123456789abcdef0123456789abcdef';

/** The event log as the server has it, on a database of its own. */
export interface BenchLog {
  readonly log: StoredEventLog;
  readonly folder: string;
  /** How many events each commit held. */
  readonly groups: number[];
  close(): Promise<void>;
}

export async function openLog(): Promise<BenchLog> {
  const folder = mkdtempSync(join(tmpdir(), 'cdui-bench-'));
  const database = await Database.open(join(folder, 'codefyui.db'), '0.0.0');
  const runs = new SqliteRunStore(database);
  const store = new SqliteEventStore(database);
  const groups: number[] = [];
  const append = store.append.bind(store);
  const events: EventStore = Object.assign(store, {
    append: (runId: string, batch: EventBatch) => {
      groups.push(batch.events.length);
      return append(runId, batch);
    },
  });
  const consoles = new FileConsoleLogs(join(folder, 'logs'), 64 * 1024 * 1024, systemClock);
  const log = new StoredEventLog({ runs, events, consoles, clock: systemClock, payloadCapBytes: 131_072 });
  await runs.insert({
    id: RUN,
    name: 'bench',
    lane: 'queued',
    graph: '{}',
    options: {},
    queueKey: 'cpu',
    queueSeq: 1,
    createdAt: Date.now(),
  });
  return {
    log,
    folder,
    groups,
    close: async () => {
      await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A frame of a training loop, as it is reported after each batch. */
export function frame(batch: number): NodeEvent {
  const progress = {
    event: 'batch',
    epoch: 1 + Math.floor(batch / 938),
    epochs: 10,
    batch: batch % 938,
    batches: 938,
    loss: 2.3 / (1 + batch * 0.001),
    lr: 0.001,
  };
  return {
    type: 'node_status',
    payload: { node_id: 'train', status: 'progress', outputs: [{ output_kind: 'progress', progress }] },
  };
}

/** Reports so many events as a run does: on and on, waiting when it is told to. @returns milliseconds until all are durable */
export async function record({ log }: BenchLog, events: number, onFailed = fail): Promise<number> {
  const started = performance.now();
  const startedAt = Date.now();
  const recorder = await log.open({ runId: RUN, startedAt, onFailed, onStarted: () => undefined });
  for (let i = 0; i < events; i++) {
    if (!recorder.emit(frame(i), performance.now() - started)) await recorder.drained();
  }
  await recorder.close();
  return performance.now() - started;
}

function fail(reason: { readonly message: string }): never {
  throw new Error(reason.message);
}
