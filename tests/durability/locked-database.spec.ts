import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '../../apps/control-plane/database/sqlite/connection';
import { customNode, ServerProcess } from '../../apps/bench/durability/server-process';
import { StoredRuns } from '../../apps/bench/durability/stored-runs';
import { Witness } from '../../apps/bench/durability/witness';

/** As long as somebody's backup or careless tool may hold it. */
const HELD_MS = 2_000;

const STEADY = `
  for (let i = 1; i <= params.int('count') && !context.cancelled; i++) {
    context.progress({ event: 'step', index: i });
    context.metric('index', i, i);
    await context.drained();
    await new Promise((go) => setTimeout(go, 5));
  }
  return { out: 1 };`;

const graph = (count: number) => ({
  nodes: [
    { id: 's', type: 'Start' },
    { id: 'n', type: 'Steady', data: { params: { count } } },
  ],
  edges: [{ source: 's', sourceHandle: 'trigger', target: 'n', type: 'trigger' }],
});

it('loses nothing, and answers every request, while another program holds the database locked for 2 s', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cdui-locked-'));
  customNode(folder, 'Steady', STEADY);
  const server = ServerProcess.spawn(folder);
  const witness = new Witness();
  let other: Connection | null = null;
  try {
    const client = await server.ready();
    const file = join(folder, 'data', 'codefyui.db');
    other = await Connection.open(file, 'write', 5_000);
    const first = (await witness.submit(client, graph(600), 'writes all the time'))!;
    // It is under way when the lock comes.
    for (let cursor = 0; cursor < 4;) {
      const page = await client.get('/api/runs/{id}/events', { path: { id: first }, query: { cursor, wait: 20 } });
      cursor = page.cursor;
      expect(page.active).toBe(true);
    }

    await other.exec('BEGIN EXCLUSIVE');
    const held = performance.now();
    const meanwhile = [
      ...[1, 2, 3, 4].map((index) => witness.submit(client, graph(10), `while locked ${index}`)),
      witness.follow(client, first),
    ];
    // Reading needs no lock.
    expect((await client.get('/api/runs')).total).toBe(1);
    await sleep(HELD_MS - (performance.now() - held));
    await other.exec('COMMIT');

    const ids = await Promise.all(meanwhile);
    expect(ids.slice(0, 4).every((id) => typeof id === 'string')).toBe(true);
    await Promise.all(ids.slice(0, 4).map((id) => witness.follow(client, id as string)));
    expect(witness.failures).toEqual([]);

    const stored = await StoredRuns.open(file);
    expect(await stored.violations()).toEqual([]);
    expect(await witness.violations(stored)).toEqual([]);
    for (const id of [first, ...(ids.slice(0, 4) as string[])]) expect(await stored.status(id)).toBe('succeeded');
    await stored.close();
    // Every step of the run that reported all the time is there.
    const metrics = await client.get('/api/runs/{id}/metrics', { path: { id: first }, query: { name: 'index' } });
    expect(metrics.metrics.map(({ step }) => step)).toEqual(Array.from({ length: 600 }, (_, index) => index + 1));
  } finally {
    await other?.close();
    await server.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
});
