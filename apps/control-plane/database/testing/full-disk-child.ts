import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CodedError } from '@cdui/protocol';
import { newRun, storedEvent } from '@cdui/execution/testing/samples';
import { Database } from '../database';
import { SqliteEventStore } from '../sqlite-event-store';
import { SqliteRunStore } from '../sqlite-run-store';

/** Fills the disk that it is given, makes room, goes on, and says what happened as one line of JSON. */
async function main(folder: string): Promise<void> {
  const ballast = join(folder, 'ballast');
  writeFileSync(ballast, Buffer.alloc(1024 * 1024, 1));
  const database = await Database.open(join(folder, 'codefyui.db'), '3.1.0');
  const events = new SqliteEventStore(database);
  await new SqliteRunStore(database).insert(newRun('r', 1));
  let acknowledged = 0;
  const append = async (length: number): Promise<void> => {
    await events.append('r', {
      events: Array.from({ length }, (_, i) => storedEvent(acknowledged + 1 + i, 'x'.repeat(500))),
    });
    acknowledged += length;
  };
  const codes: string[] = [];
  const reasons: unknown[] = [];
  while (codes.length === 0 && acknowledged < 1_000_000) await append(100).catch(refused);
  // Still full: refused again, and nothing hangs or is half stored.
  await append(100).catch(refused);
  const failure = database.failure?.code ?? null;
  const whenFull = await events.lastCursor('r').catch(() => -1);
  rmSync(ballast);
  await append(100);
  const failureAfter = database.failure;
  const [check] = await database.all<{ integrity_check: string }>('PRAGMA integrity_check');
  const [row] = await database.all<{ n: number; last: number }>(
    'SELECT count(*) AS n, max(cursor) AS last FROM exec_run_events',
  );
  await database.close();
  const said = {
    acknowledged,
    codes,
    reasons,
    whenFull,
    failures: [failure, failureAfter],
    integrity: check!.integrity_check,
    stored: row!.n,
    last: row!.last,
  };
  process.stdout.write(`${JSON.stringify(said)}\n`);

  function refused(error: CodedError): void {
    codes.push(error.code);
    reasons.push(error.params['reason']);
  }
}

void main(process.argv[2]!);
