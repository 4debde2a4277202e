import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiClient } from '@cdui/api-client';
import { customNode, ServerProcess } from '../../apps/bench/durability/server-process';
import { StoredRuns } from '../../apps/bench/durability/stored-runs';
import { Witness } from '../../apps/bench/durability/witness';

/** What runs get to stop; closing the database and the machine's load come on top. */
const STOP_MS = 5_000;

let folder: string;
let server: ServerProcess;
let client: ApiClient;
let witness: Witness;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cdui-stop-'));
  witness = new Witness();
  const said = JSON.stringify(join(folder, 'listening'));
  customNode(
    folder,
    'Listens',
    `require('node:fs').writeFileSync(${said}, '');
     return new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)));`,
  );
  customNode(
    folder,
    'Deaf',
    `require('node:fs').writeFileSync(${said}, ''); await new Promise((go) => setImmediate(go)); for (;;);`,
  );
});

afterEach(async () => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

async function start(): Promise<void> {
  server = ServerProcess.spawn(folder, { CODEFYUI_RUN_QUEUE_MAX_CONCURRENT_CPU: '1' });
  client = await server.ready();
}

const graph = (type: string, params: object = {}) => ({
  nodes: [
    { id: 's', type: 'Start' },
    { id: 'n', type, data: { params } },
  ],
  edges: [{ source: 's', sourceHandle: 'trigger', target: 'n', type: 'trigger' }],
});

/** Submits a run that occupies the only slot and two behind it; resolves when the first is inside its node. */
async function occupy(type: string): Promise<{ readonly running: string; readonly waiting: readonly string[] }> {
  const running = (await witness.submit(client, graph(type), 'runs'))!;
  const waiting = [
    (await witness.submit(client, graph(type), 'waits'))!,
    (await witness.submit(client, graph(type), 'waits'))!,
  ];
  for (let cursor = 0; !existsSync(join(folder, 'listening'));) {
    cursor = (await client.get('/api/runs/{id}/events', { path: { id: running }, query: { cursor, wait: 1 } })).cursor;
  }
  return { running, waiting };
}

async function expectHonest(ids: readonly string[]): Promise<void> {
  const stored = await StoredRuns.open(join(folder, 'data', 'codefyui.db'));
  expect(await stored.violations()).toEqual([]);
  expect(await stored.active()).toEqual([]);
  expect(await witness.violations(stored)).toEqual([]);
  for (const id of ids) expect(await stored.status(id)).toBe('interrupted');
  await stored.close();
}

it.each(['SIGTERM', 'SIGINT'] as const)('%s retires what waits, stops what runs, and ends with 0', async (signal) => {
  await start();
  const { running, waiting } = await occupy('Listens');
  const follower = witness.follow(client, running);
  const asked = performance.now();
  server.child.kill(signal);
  expect(await server.ended).toEqual({ code: 0, signal: null });
  // A node that listens is not waited for until the time is up.
  expect(performance.now() - asked).toBeLessThan(STOP_MS);
  await follower;
  await expectHonest([running, ...waiting]);
  expect(witness.failures).toEqual([]);
  for (const name of ['server.addr', 'server.pid']) expect(existsSync(join(folder, name))).toBe(false);
  // The database was closed in order: nothing is left to be recovered.
  expect(readdirSync(join(folder, 'data')).filter((name) => name.endsWith('-wal'))).toEqual([]);
});

it('does not wait for a node that listens to nobody longer than it said', async () => {
  await start();
  const { running, waiting } = await occupy('Deaf');
  const asked = performance.now();
  server.child.kill('SIGTERM');
  const ending = await server.ended;
  expect(performance.now() - asked).toBeLessThan(2 * STOP_MS);
  // Ended from outside at worst, after the database was closed; never aborted by a thread that computes.
  expect(['SIGKILL', null]).toContain(ending.signal);
  await expectHonest([running, ...waiting]);
});

it('ends without a core dump while the native runtime trains', async () => {
  await start();
  const layers = JSON.stringify([
    { type: 'Linear', in_features: 784, out_features: 2048 },
    { type: 'ReLU' },
    { type: 'Linear', in_features: 2048, out_features: 10 },
  ]);
  const id = (await witness.submit(
    client,
    {
      nodes: [
        { id: 's', type: 'Start' },
        { id: 'd', type: 'Dataset', data: { params: { name: 'MNIST', split: 'train' } } },
        {
          id: 'f',
          type: 'SequentialModel',
          data: { params: { layers: JSON.stringify([{ type: 'Flatten' }, ...(JSON.parse(layers) as object[])]) } },
        },
        { id: 'b', type: 'DataLoader', data: { params: { batch_size: 512 } } },
        { id: 'o', type: 'Optimizer' },
        { id: 'l', type: 'Loss' },
        { id: 't', type: 'TrainingLoop', data: { params: { epochs: 50 } } },
      ],
      edges: [
        { source: 's', sourceHandle: 'trigger', target: 'd', type: 'trigger' },
        { source: 'd', sourceHandle: 'dataset', target: 'b', targetHandle: 'dataset' },
        { source: 'f', sourceHandle: 'model', target: 'o', targetHandle: 'model' },
        { source: 'f', sourceHandle: 'model', target: 't', targetHandle: 'model' },
        { source: 'b', sourceHandle: 'dataloader', target: 't', targetHandle: 'dataloader' },
        { source: 'o', sourceHandle: 'optimizer', target: 't', targetHandle: 'optimizer' },
        { source: 'l', sourceHandle: 'loss_fn', target: 't', targetHandle: 'loss_fn' },
      ],
    },
    'trains',
  ))!;
  // It is in the middle of training: batches are being reported.
  for (let cursor = 0, trains = false; !trains;) {
    const page = await client.get('/api/runs/{id}/events', { path: { id }, query: { cursor, wait: 20 } });
    cursor = page.cursor;
    trains = page.events.some(({ payload }) => JSON.stringify(payload).includes('"event":"batch"'));
    expect(page.active).toBe(true);
  }
  server.child.kill('SIGTERM');
  const ending = await server.ended;
  expect(ending.signal).not.toBe('SIGABRT');
  expect(ending.signal).not.toBe('SIGSEGV');
  await expectHonest([id]);
});

it('takes no runs on its way out', async () => {
  await start();
  const { running } = await occupy('Deaf');
  server.child.kill('SIGTERM');
  // The door closes at the signal: until then runs are taken, after it none is, and none of either kind is lost.
  for (let open = true; open;) {
    const before = witness.count.runs;
    await witness.submit(client, graph('Listens'), 'late');
    open = witness.count.runs > before;
  }
  await server.ended;
  await expectHonest([running]);
});
