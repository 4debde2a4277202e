import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures, Report } from './figures';
import { median } from './rounds';
import { ServerProcess } from './server-process';
import { untilNodeRuns } from './submits';

const RUNS = 40;
/** Runs that warm up caches and compilers. */
const WARM = 5;
/** Nobody submits the next run the moment that one is over: the server is idle again by then. In milliseconds. */
const IDLE_MS = 1_500;

const GRAPH = {
  nodes: [
    { id: 'start', type: 'Start' },
    { id: 'numbers', type: 'TensorCreate', data: { params: { shape: '4,4', fill: 'ones' } } },
  ],
  edges: [{ source: 'start', sourceHandle: 'trigger', target: 'numbers', type: 'trigger' }],
};

/** From sending a run to an idle server until its first node is known to run, over HTTP. */
export async function benchFirstNode(report: Report): Promise<Figures> {
  const server = await ServerProcess.start();
  const body = JSON.stringify({ graph: GRAPH });
  const times: number[] = [];
  try {
    for (let round = 0; round < WARM + RUNS; round++) {
      await sleep(IDLE_MS);
      const begun = performance.now();
      const { run_id: id } = JSON.parse(await server.post('/api/runs', body)) as { run_id: string };
      await untilNodeRuns(server, id, 'start');
      if (round >= WARM) times.push(performance.now() - begun);
    }
  } finally {
    await server.kill();
  }
  times.sort((a, b) => a - b);
  const p50 = median(times);
  const p99 = times[Math.ceil(0.99 * times.length) - 1]!;
  report(`submit to first node: ${p50.toFixed(1)} ms in the middle, ${times[0]!.toFixed(1)} to ${p99.toFixed(1)} ms`);
  return { 'first_node.p50_ms': p50, 'first_node.p99_ms': p99 };
}
