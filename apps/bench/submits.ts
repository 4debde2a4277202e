import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath } from '@cdui/host/entry';
import type { Figures, Report } from './figures';
import { median, ratio } from './rounds';
import { HttpClient, said, ServerProcess } from './server-process';

const SUBMITS = 1_500;
const CONNECTIONS = 32;
const ROUNDS = 3;
const NODES = 200;
/** As many as may run at a time on the processor. */
const SLOTS = 2;

/**
 * Submissions of a graph of 200 nodes per second over HTTP, each answered when it is durable, while the queue's slots are taken. Beside it a bare HTTP
 * server on a bare sqlite3 that stores the same rows.
 */
export async function benchSubmits(report: Report): Promise<Figures> {
  const times = { ours: [] as number[], raw: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    // Each graph is another one, so that nothing can be remembered of it.
    const bodies = Array.from({ length: SUBMITS }, (_, index) => submission(round * SUBMITS + index));
    const ours = await measureOurs(bodies);
    const raw = await measureRaw(bodies);
    const kib = Math.round(bodies[0]!.length / 1024);
    const line = `${rate(ours)}/s of ${kib} KiB; bare http and sqlite3 ${rate(raw)}/s`;
    report(`${round === 0 ? 'warming up' : `round ${round}`}: ${line}`);
    if (round === 0) continue;
    times.ours.push(ours);
    times.raw.push(raw);
  }
  return {
    'submits.per_s': (SUBMITS / median(times.ours)) * 1000,
    'submits.raw_per_s': (SUBMITS / median(times.raw)) * 1000,
    'submits.raw_ratio': ratio(times.raw, times.ours),
  };
}

async function measureOurs(bodies: readonly string[]): Promise<number> {
  const server = await ServerProcess.start();
  try {
    const graph = {
      nodes: [
        { id: 'start', type: 'Start' },
        { id: 'wait', type: 'Wait' },
      ],
      edges: [{ source: 'start', sourceHandle: 'trigger', target: 'wait', type: 'trigger' }],
    };
    for (let slot = 0; slot < SLOTS; slot++) {
      const { run_id: id } = JSON.parse(await server.post('/api/runs', JSON.stringify({ graph }))) as {
        run_id: string;
      };
      await untilNodeRuns(server, id, 'wait');
    }
    return await send(bodies, (body) => server.post('/api/runs', body));
  } finally {
    await server.kill();
  }
}

async function measureRaw(bodies: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'cdui-raw-'));
  const child = spawn(process.execPath, [entryPath('apps/bench/raw-submits'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const client = new HttpClient(await said(child, /http:\/\/\S+/), '');
  try {
    return await send(bodies, (body) => client.send('POST', '/', body));
  } finally {
    client.close();
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  }
}

/** Waits, by asking for events, until the node has begun. */
export async function untilNodeRuns(server: ServerProcess, id: string, node: string): Promise<void> {
  for (let cursor = 0; ;) {
    const page = JSON.parse(await server.get(`/api/runs/${id}/events?cursor=${cursor}&wait=30`)) as {
      readonly cursor: number;
      readonly active: boolean;
      readonly events: readonly { readonly payload: { readonly node_id?: string } | null }[];
    };
    if (page.events.some(({ payload }) => payload?.node_id === node)) return;
    if (!page.active && page.events.length === 0) throw new Error(`Run ${id} ended before node ${node} began`);
    cursor = page.cursor;
  }
}

async function send(bodies: readonly string[], post: (body: string) => Promise<string>): Promise<number> {
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < bodies.length) await post(bodies[next++]!);
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, sender));
  return performance.now() - begun;
}

/** As the console would write it: positions, names and all. */
function submission(index: number): string {
  const ids = Array.from({ length: NODES - 2 }, (_, node) => `activation_${index}_${node}`);
  const nodes = [
    { id: 'start', type: 'Start', position: { x: 80, y: 80 }, data: {} },
    {
      id: 'numbers',
      type: 'TensorCreate',
      position: { x: 380, y: 80 },
      data: { params: { shape: '4,4', fill: 'full', value: index } },
    },
    ...ids.map((id, node) => ({
      ...{ id, type: 'Activation', position: { x: 380 + 300 * node, y: 80 } },
      data: { label: `Step ${node}`, params: { function: node % 2 ? 'relu' : 'tanh' } },
    })),
  ];
  const chain = ['numbers', ...ids];
  const edges = [
    { id: 'e0', source: 'start', sourceHandle: 'trigger', target: 'numbers', type: 'trigger' },
    ...ids.map((id, node) => ({
      ...{ id: `e${node + 1}`, source: chain[node], sourceHandle: 'tensor', target: id, targetHandle: 'tensor' },
      type: 'data',
    })),
  ];
  return JSON.stringify({ graph: { name: `Graph ${index}`, nodes, edges }, options: { device: 'cpu' } });
}

function rate(ms: number): string {
  return ((SUBMITS / ms) * 1000).toFixed(0);
}
