import { setImmediate as turn } from 'node:timers/promises';
import type { ProcessRef, ProcessSystem } from './process-system';
import { thisSystem } from './this-system';

/**
 * Takes note of the end of orphans that this process adopted (`becomeSubreaper`) and did not start: the kernel keeps their numbers until
 * somebody does. What libuv started is libuv's: it takes note of it within a turn of the event loop, so whatever is left after two is nobody's.
 * To be called on the main thread: the turns are those of the caller's loop.
 *
 * @param own children that this process started, to be left alone whatever their state
 * @returns how many there were
 */
export async function reapOrphans(
  own: ReadonlySet<number> = new Set(),
  system: ProcessSystem = thisSystem(),
): Promise<number> {
  const seen = zombies(system).filter(({ pid }) => !own.has(pid));
  if (seen.length === 0) return 0;
  await turn();
  await turn();
  const still = new Map(zombies(system).map(({ pid, startTime }) => [pid, startTime]));
  return seen.filter(({ pid, startTime }) => still.get(pid) === startTime && system.reap(pid)).length;
}

function zombies(system: ProcessSystem): readonly ProcessRef[] {
  return system.children(system.self).flatMap((pid) => {
    const entry = system.entry(pid);
    return entry !== null && entry.ended && entry.parent === system.self ? [entry] : [];
  });
}
