import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sweepCookies } from '@cdui/host/process-tree';
import { readCookie, removeCookie } from './cookie-file';
import { RUNS_FOLDER } from './process-launcher';
import { SPARE_PREFIX } from './spares';

/** How long one try to kill what is left goes on. */
const ROUND_MS = 5_000;

/**
 * For an agent that starts: kills what is left of the runs of one before it, and of processes that waited for a run. Resolves when nothing of them
 * lives, however long the system takes to end it.
 *
 * @returns ids of the runs whose process the former agent did not see the end of
 */
export async function sweepRuns(agentFolder: string): Promise<readonly string[]> {
  const runs = join(agentFolder, RUNS_FOLDER);
  const left = foldersIn(runs).flatMap((name) => {
    const file = readCookie(join(runs, name));
    return file ? [{ name, cookie: file.cookie }] : [];
  });
  const cookies = left.map(({ cookie }) => cookie);
  while ((await sweepCookies(cookies, new Set(), ROUND_MS)).length > 0);
  for (const { name, cookie } of left) removeCookie(join(runs, name), cookie);
  for (const name of foldersIn(runs).filter(isSpare)) rmSync(join(runs, name), { recursive: true, force: true });
  return left.map(({ name }) => name).filter((name) => !isSpare(name));
}

function isSpare(name: string): boolean {
  return name.startsWith(SPARE_PREFIX);
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // There was no run yet.
    return [];
  }
}
