import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiClient } from '@cdui/api-client';
import { Connection } from '../../apps/control-plane/database/sqlite/connection';
import { ServerProcess } from '../../apps/bench/durability/server-process';
import { StoredRuns } from '../../apps/bench/durability/stored-runs';
import { Witness } from '../../apps/bench/durability/witness';

/** Whoever judges the kill test is judged here: each fault that it should see is planted in a real database, and it must see it. */
describe('the judges of the kill test', () => {
  let folder: string;
  let file: string;
  let writer: Connection;
  let stored: StoredRuns;
  let witness: Witness;
  let id: string;

  const graph = {
    nodes: [
      { id: 's', type: 'Start' },
      { id: 't', type: 'TextInput', data: { params: { value: 'hello' } } },
    ],
    edges: [{ source: 's', sourceHandle: 'trigger', target: 't', type: 'trigger' }],
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cdui-judges-'));
    mkdirSync(join(folder, 'data'), { recursive: true });
    file = join(folder, 'data', 'codefyui.db');
    const server = ServerProcess.spawn(folder);
    const client: ApiClient = await server.ready();
    witness = new Witness();
    id = (await witness.submit(client, graph, 'one'))!;
    await witness.follow(client, id);
    await server.kill();
    writer = await Connection.open(file, 'write', 5_000);
    stored = await StoredRuns.open(file);
  });

  afterAll(async () => {
    await stored.close();
    await writer.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('find nothing wrong with what a run left', async () => {
    expect(await stored.violations()).toEqual([]);
    expect(await stored.active()).toEqual([]);
    expect(await witness.violations(stored)).toEqual([]);
    expect(witness.count.events).toBeGreaterThan(4);
    expect(witness.failures).toEqual([]);
  });

  it.each([
    ['a gap', `DELETE FROM exec_run_events WHERE cursor = 2`, 'gapless'],
    ['no last event', `DELETE FROM exec_run_events WHERE type = 'execution_complete'`, 'no last event'],
    [
      'a second end',
      `INSERT INTO exec_run_events SELECT run_id, max(cursor) + 1, 'execution_complete', 'null', max(ts) FROM exec_run_events`,
      'or several',
    ],
    [
      'an event behind the end',
      `INSERT INTO exec_run_events SELECT run_id, max(cursor) + 1, 'node_status', '{}', max(ts) FROM exec_run_events`,
      'follows the last event',
    ],
    ['a row that disagrees', `UPDATE exec_runs SET status = 'interrupted'`, 'disagree'],
    ['a row that goes on', `UPDATE exec_runs SET status = 'running'`, 'goes on'],
    ['time that runs back', `UPDATE exec_run_events SET ts = 1 WHERE cursor = 3`, 'back in time'],
    [
      'a point without an event',
      `INSERT INTO exec_run_metrics SELECT id, 99, 'n', 'x', 1, 1.0, 1 FROM exec_runs`,
      'metric rows disagree',
    ],
    ['events of no run', `DELETE FROM exec_runs`, 'belong to no run'],
  ])('see %s', async (_, fault, words) => {
    await tamper(fault, async () => expect((await stored.violations()).join('\n')).toContain(words));
  });

  it.each([
    ['a run that is gone', `DELETE FROM exec_runs`, 'is gone'],
    ['another end than was shown', `UPDATE exec_runs SET status = 'failed'`, 'was succeeded and is failed'],
    ['another event than was shown', `UPDATE exec_run_events SET payload = '{"x":1}' WHERE cursor = 2`, 'was shown as'],
    ['an event that was shown and is gone', `DELETE FROM exec_run_events WHERE cursor = 2`, 'is null'],
  ])('remember what clients were told: %s', async (_, fault, words) => {
    await tamper(fault, async () => expect((await witness.violations(stored)).join('\n')).toContain(words));
  });

  it('see a run that goes on though nothing runs', async () => {
    await tamper(`UPDATE exec_runs SET status = 'queued'`, async () =>
      expect(await stored.active()).toEqual([{ id, status: 'queued' }]),
    );
  });

  /** Plants a fault for others to see, and takes it back. */
  async function tamper(fault: string, look: () => Promise<void>): Promise<void> {
    const copies = ['exec_runs', 'exec_run_events', 'exec_run_metrics'];
    await writer.exec('PRAGMA foreign_keys = OFF');
    for (const table of copies) await writer.exec(`CREATE TABLE copy_${table} AS SELECT * FROM ${table}`);
    try {
      await writer.exec(fault);
      await look();
    } finally {
      for (const table of copies) {
        await writer.exec(
          `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM copy_${table}; DROP TABLE copy_${table}`,
        );
      }
    }
  }
});
