import type { Figures, Report } from './figures';
import { measureRawChain } from './raw-chain';
import { median, ratio } from './rounds';
import { graphOf, WorkerBench } from './worker-bench';

const EVENTS = 200_000;
const ROUNDS = 3;

/**
 * Events per second from a run's process through its agent's spool and socket into the server's database, until the last is durable. Beside it the same
 * processes with nothing in them.
 */
export async function benchWorkerEvents(report: Report): Promise<Figures> {
  const bench = await WorkerBench.start();
  const times = { ours: [] as number[], raw: [] as number[] };
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      const ours = await measure(bench);
      const raw = await measureRawChain(EVENTS);
      report(`${round === 0 ? 'warming up' : `round ${round}`}: ${rate(ours)}/s; bare processes ${rate(raw)}/s`);
      if (round === 0) continue;
      times.ours.push(ours);
      times.raw.push(raw);
    }
  } finally {
    await bench.kill();
  }
  return {
    'worker.events.per_s': (EVENTS / median(times.ours)) * 1000,
    'worker.events.raw_per_s': (EVENTS / median(times.raw)) * 1000,
    'worker.events.raw_ratio': ratio(times.raw, times.ours),
  };
}

/** @returns milliseconds from the start of the graph at the server to its end */
async function measure(bench: WorkerBench): Promise<number> {
  const id = await bench.submitThere(graphOf('Report', { count: EVENTS }));
  await bench.ended(id);
  const last = await bench.newest(id);
  if (last < EVENTS) throw new Error(`Only ${last} events are stored`);
  return (await bench.timeOf(id, last)) - (await bench.timeOf(id, 1));
}

function rate(ms: number): string {
  return ((EVENTS / ms) * 1000).toFixed(0);
}
