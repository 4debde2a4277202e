import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';
import type { Figures, Report } from './figures';
import { median } from './rounds';
import { WorkerBench } from './worker-bench';

const PAIRS = 5;
/** How long a training takes, about; `CDUI_BENCH_TRAINING_S` says otherwise. */
const SECONDS = 60;
/** Epochs of the probe that says how many make up the time. */
const PROBE_EPOCHS = 2;

/** A training on a worker over the same one in the server's own process, in alternating pairs. */
export async function benchOverhead(report: Report): Promise<Figures> {
  const seconds = Number(process.env['CDUI_BENCH_TRAINING_S'] ?? SECONDS);
  const bench = await WorkerBench.start();
  const overheads: number[] = [];
  try {
    const probe = await timed(bench, false, PROBE_EPOCHS);
    const epochs = Math.max(PROBE_EPOCHS, Math.round((seconds * PROBE_EPOCHS) / probe));
    report(`${epochs} epochs make about ${seconds} s`);
    for (let pair = 1; pair <= PAIRS; pair++) {
      const first = pair % 2 === 0;
      const a = await timed(bench, first, epochs);
      const b = await timed(bench, !first, epochs);
      const [here, there] = first ? [b, a] : [a, b];
      overheads.push((there / here - 1) * 100);
      report(`pair ${pair}: ${here.toFixed(2)} s here, ${there.toFixed(2)} s there: ${overheads.at(-1)!.toFixed(2)} %`);
    }
  } finally {
    await bench.kill();
  }
  const spread = `${Math.min(...overheads).toFixed(2)} to ${Math.max(...overheads).toFixed(2)} %`;
  report(`in the middle ${median(overheads).toFixed(2)} %, ${spread}`);
  return { 'overhead.pct': median(overheads) };
}

/** @returns seconds that the training took, as the run's row says: from its placing to its end */
async function timed(bench: WorkerBench, onWorker: boolean, epochs: number): Promise<number> {
  const graph = training(epochs);
  const id = await (onWorker ? bench.submitThere(graph, { seed: 1 }) : bench.submit(graph, { seed: 1 }));
  const { started_at: started, finished_at: finished } = await bench.ended(id);
  return (Date.parse(finished) - Date.parse(started)) / 1000;
}

interface Graph {
  readonly nodes: readonly { readonly id: string; readonly data?: { readonly params?: Record<string, unknown> } }[];
}

/** The example that trains a convolutional network, on 10,000 digits, for so many epochs. */
function training(epochs: number): Graph {
  const graph = JSON.parse(readFileSync(join(programRoot(), 'examples/mnist-cnn.graph.json'), 'utf8')) as Graph;
  const set = (id: string, params: Readonly<Record<string, unknown>>): void =>
    void Object.assign(graph.nodes.find((node) => node.id === id)!.data!.params!, params);
  set('train_digits', { split: 'test' });
  set('training', { epochs });
  return graph;
}
