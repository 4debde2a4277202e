import { rmSync } from 'node:fs';
import { chain } from '@cdui/run-host/testing/workplace';
import { readCookie } from '../agent/runner/cookie-file';
import { AgentPlace } from '../agent/runner/testing/agent-place';
import { alive, BROOD, broodNode, listPath } from '../agent/runner/testing/brood';
import type { Figures, Report } from './figures';

const ROUNDS = 5;

/**
 * Runs that start processes which want to stay (in sessions of their own, forked twice, deaf to SIGTERM, blocked in a pipe), and end in every way: what
 * of them lives when the end of the run is reported?
 */
export async function benchOrphans(report: Report): Promise<Figures> {
  const place = new AgentPlace();
  place.write('Brood', broodNode(place.folder));
  let started = 0;
  let left = 0;
  try {
    for (let round = 1; round <= ROUNDS; round++) {
      for (const end of ['succeeded', 'stopped by force', 'killed'] as const) {
        rmSync(listPath(place.folder), { force: true });
        const key = { succeeded: {}, 'stopped by force': { key: 'spin' }, killed: { key: 'wait', amount: 1 } }[end];
        const launcher = place.launcher({ killAfterTerminateMs: 100 });
        const { run } = place.launch(launcher, chain(['b', 'Brood', key]));
        if (end !== 'succeeded') await place.printed('ready');
        if (end === 'stopped by force') run.stop(0.1, 'cancel');
        if (end === 'killed') process.kill(readCookie(place.runFolder())!.pid!, 'SIGKILL');
        await run.over;
        started += BROOD;
        left += alive(place.folder).length;
        await launcher.close();
      }
    }
  } finally {
    place.remove();
  }
  report(`${started} processes were started, ${left} are left`);
  return { 'orphans.started': started, 'orphans.left': left };
}
