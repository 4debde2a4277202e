import { newRun } from '@cdui/execution/testing/samples';
import { Database } from '../database';
import { SqliteEventStore } from '../sqlite-event-store';
import { SqliteRunStore } from '../sqlite-run-store';

/** Writes events of several runs until it is killed, and says on standard output what was acknowledged: `run cursor` in each line. */
async function main(file: string, names: readonly string[]): Promise<void> {
  const database = await Database.open(file, '3.1.0');
  const runs = new SqliteRunStore(database);
  const events = new SqliteEventStore(database);
  const write = async (id: string, index: number): Promise<never> => {
    if ((await runs.get(id)) === null) await runs.insert(newRun(id, index + 1));
    for (let cursor = await events.lastCursor(id); ;) {
      const batch = Array.from({ length: 1 + (cursor % 50) }, (_, i) => ({
        cursor: cursor + 1 + i,
        type: 'node_status',
        payload: JSON.stringify({ node_id: id, text: 'x'.repeat((cursor * 37 + i) % 3000) }),
        ts: cursor,
      }));
      const metrics = [{ node_id: id, name: 'loss', step: cursor, value: cursor, ts: cursor }];
      await events.append(id, { events: batch, metrics, recordedSeq: cursor + batch.length });
      cursor += batch.length;
      process.stdout.write(`${id} ${cursor}\n`);
    }
  };
  await Promise.all(names.map(write));
}

void main(process.argv[2]!, process.argv.slice(3));
