import { FAULTS } from '../simulation/faults';
import { firstProblem, upTo } from '../simulation/tell-stories';
import type { Figures, Report } from './figures';

/** How many stories are told; `CDUI_BENCH_SEEDS` says otherwise. */
const SEEDS = 1_000;

/** The stories of the simulated world, and whether they find out each way in which the program could be broken. */
export async function benchSim(report: Report): Promise<Figures> {
  const seeds = Number(process.env['CDUI_BENCH_SEEDS'] ?? SEEDS);
  const problem = await firstProblem(upTo(seeds));
  if (problem !== null) report(problem);
  let caught = 0;
  for (const [name, fault] of Object.entries(FAULTS)) {
    if ((await firstProblem(upTo(SEEDS), fault)) === null) report(`not found out: ${name}`);
    else caught += 1;
  }
  const planted = Object.keys(FAULTS).length;
  report(`${seeds} stories, ${problem === null ? 'nothing wrong' : 'something wrong'}; ${caught} of ${planted} faults`);
  return {
    'sim.seeds': seeds,
    'sim.violations': problem === null ? 0 : 1,
    'sim.faults_planted': planted,
    'sim.faults_caught': caught,
  };
}
