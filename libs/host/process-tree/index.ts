import { descendantsOf as descendants, refOfEntry } from './members';
import type { ProcessRef } from './process-system';
import { thisSystem } from './this-system';

export { becomeSubreaper } from './linux';
export { reapOrphans } from './orphans';
export { type ProcessRef, RUN_COOKIE_VARIABLE, processTreeCounters } from './process-system';
export { Strays } from './strays';
export { ProcessTree, aliveMembers, killCookie, sweepCookies } from './process-tree';

/** The process that has this number now; one that matches nothing when there is none. */
export function refOf(pid: number): ProcessRef {
  return { pid, startTime: thisSystem().entry(pid)?.startTime ?? '' };
}

/** What lives below a process, without itself: by one reading of the process list. */
export function descendantsOf(pid: number): readonly ProcessRef[] {
  return descendants(thisSystem(), pid);
}

/** Every process that was started with this `CODEFYUI_RUN_COOKIE`, this one included. */
export function holdersOf(cookie: string): readonly ProcessRef[] {
  const system = thisSystem();
  const table = [...system.scan().values()];
  return table.filter(({ pid, ended }) => !ended && system.cookie(pid) === cookie).map(refOfEntry);
}
