import { join } from 'node:path';
import { newRun } from '@cdui/execution/testing/store-contract';
import { Database } from '../database';
import { SqliteRunStore } from '../sqlite-run-store';
import { temporaryFolders } from '../testing/temporary';
import { EVENTS, PURGES, RUNS, listRuns } from './sqlite';

const newFolder = temporaryFolders();

/** What the planner says about the statement as the program runs it. */
async function plan(database: Database, sql: string): Promise<string> {
  const rows = await database.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
  return rows.map(({ detail }) => detail).join('\n');
}

/** Tables that grow with use; going through all of one is never right. */
const GROWING =
  /SCAN (?:exec_run_events|exec_run_metrics|exec_run_artifacts|exec_run_series|exec_runs)(?! USING (?:COVERING )?INDEX)/;

describe('the query planner', () => {
  let database: Database;

  beforeEach(async () => {
    database = await Database.open(join(newFolder(), 'plans.db'), '3.1.0');
    await new SqliteRunStore(database).insert(newRun('r', 1));
  });
  afterEach(() => database.close());

  const reading = Object.entries({ ...RUNS, ...EVENTS }) as [string, string][];
  const statements: [string, string][] = [
    ...reading,
    ['list', listRuns({ limit: 1, offset: 0 }).rows],
    ['list by status', listRuns({ limit: 1, offset: 0, status: ['queued'] }).rows],
    ['search', listRuns({ limit: 1, offset: 0, q: 'x' }).rows],
    ['count of a search', listRuns({ limit: 1, offset: 0, q: 'x' }).count],
    ['list of a sweep', listRuns({ limit: 1, offset: 0, sweepId: 's' }).rows],
    ['list of a worker', listRuns({ limit: 1, offset: 0, workerId: 'w' }).rows],
    ...PURGES.slices.map((sql, index): [string, string] => [`slice ${index}`, sql]),
  ];

  it.each(statements)('finds the rows of "%s" by an index', async (_name, sql) => {
    expect(await plan(database, sql)).not.toMatch(GROWING);
  });

  it.each([
    ['events', EVENTS.read, /SEARCH exec_run_events USING PRIMARY KEY \(run_id=\? AND cursor>\? AND cursor<\?\)/],
    ['metrics', EVENTS.metrics, /SEARCH exec_run_metrics USING PRIMARY KEY \(run_id=\? AND seq>\?\)/],
    ['the last cursor', EVENTS.lastCursor, /SEARCH exec_run_events USING PRIMARY KEY \(run_id=\?\)/],
    ['last values', EVENTS.finalMetrics, /SEARCH exec_run_series USING PRIMARY KEY \(run_id=\?\)/],
    ['active runs', RUNS.active, /SEARCH exec_runs USING INDEX exec_runs_by_status \(status=\?\)/],
    ['surplus runs', RUNS.surplus, /SCAN exec_runs USING COVERING INDEX exec_runs_ended/],
    ['the last place in the queue', RUNS.lastQueueSeq, /SEARCH exec_runs USING COVERING INDEX exec_runs_by_queue_seq/],
    ['the newest runs', listRuns({ limit: 1, offset: 0 }).rows, /SCAN exec_runs USING INDEX exec_runs_by_creation/],
  ])('reads %s in order, without sorting', async (_name, sql, expected) => {
    const text = await plan(database, sql);
    expect(text).toMatch(expected);
    if (sql !== EVENTS.finalMetrics && sql !== RUNS.active) expect(text).not.toMatch(/TEMP B-TREE/);
  });
});
