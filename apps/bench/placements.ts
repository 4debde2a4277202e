import { ANY, LOCAL, type Placed, SchedulerState, SlotLimits, type WaitingRun } from '@cdui/scheduling';
import type { Figures, Report } from './figures';
import { median } from './rounds';

const WORKERS = 1_000;
const RUNS = 10_000;
const ROUNDS = 5;

/**
 * So many runs wait for so many workers, each a machine of its own: they are placed, and each that is placed ends while the others wait. A
 * third of them name their worker, a third take any, a third take any with a card.
 */
export function benchPlacements(report: Report): Promise<Figures> {
  const rates: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const rate = placeAll();
    // The first one is for the compiler.
    if (round > 0) rates.push(rate);
  }
  const perS = median(rates);
  report(`${RUNS} waiting runs on ${WORKERS} workers: ${Math.round(perS)} placements a second`);
  return Promise.resolve({ 'placements.per_s': perS });
}

function placeAll(): number {
  const state = new SchedulerState();
  state.limits(new SlotLimits({ gpu: 1, cpu: 2, overrides: '' }));
  state.workerChanged({ id: LOCAL, online: true, devices: ['cpu'] });
  for (let index = 0; index < WORKERS; index++) {
    const identities = { cpu: `machine:${index}/cpu`, 'cuda:0': `card:GPU-${index}` };
    state.workerChanged({ id: nameOf(index), online: true, devices: ['cpu', 'cuda:0'], identities });
  }
  // They gather while nothing is placed: it is the placing that is measured.
  for (let seq = 0; seq < RUNS; seq++) state.submit(runOf(seq));
  const running: Placed[] = [];
  const begun = performance.now();
  let count = 0;
  while (count < RUNS) {
    const placed = state.next();
    if (placed) {
      count += 1;
      running.push(placed);
      continue;
    }
    // One ends, and the next of those that waited for its device takes its place.
    const over = running.shift();
    if (!over) throw new Error(`Only ${count} of ${RUNS} runs were placed`);
    state.release(over.run.id);
  }
  return (RUNS * 1000) / (performance.now() - begun);
}

function runOf(seq: number): WaitingRun {
  const id = `r${seq}`;
  if (seq % 3 === 0) {
    const worker = nameOf((seq * 7) % WORKERS);
    return { id, worker, devices: ['cpu'], queueKey: `${worker}/cpu`, queueSeq: seq };
  }
  const ask = seq % 3 === 1 ? { devices: ['cpu'] } : { devices: [], kind: 'cuda' };
  return { id, worker: ANY, ...ask, queueKey: `any/${seq % 3 === 1 ? 'cpu' : 'cuda'}`, queueSeq: seq };
}

function nameOf(index: number): string {
  return `worker-${String(index).padStart(4, '0')}`;
}
