import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs `work` while holding the lock file at `path`; other processes wait. The file names its holder, so that a lock whose holder
 * died (a killed install) is taken over instead of waited for.
 *
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @param {{ onWait?: (pid: number) => void, pollMs?: number }} [options] `onWait` is called once, with the holder's process id,
 *   when the lock is not free at once
 * @returns {Promise<T>}
 */
export async function withLock(path, work, { onWait = () => {}, pollMs = 100 } = {}) {
  mkdirSync(dirname(path), { recursive: true });
  const mine = JSON.stringify({
    pid: process.pid,
    started: startOf(process.pid),
    token: `${process.pid}-${process.hrtime.bigint()}`,
  });
  let told = false;
  while (!tryTake(path, mine)) {
    const holder = read(path);
    if (holder !== null && isDead(holder)) {
      breakStale(path, holder);
      continue;
    }
    if (!told && holder !== null) {
      told = true;
      onWait(JSON.parse(holder).pid);
    }
    await sleep(pollMs);
  }
  try {
    return await work();
  } finally {
    if (read(path) === mine) {
      unlinkSync(path);
    }
  }
}

/** Creates the lock with its content in one step: a hard link to a finished file either appears whole or not at all. */
function tryTake(path, content) {
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, content);
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') {
      return false;
    }
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Moves a dead holder's lock aside; puts it back if another process took the lock in between. */
function breakStale(path, holder) {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (read(aside) !== holder) {
    try {
      linkSync(aside, path);
    } catch {
      // A third process holds it now; the second finds its own lock gone and leaves this one alone.
    }
  }
  rmSync(aside, { force: true });
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function isDead(holder) {
  let pid, started;
  try {
    ({ pid, started } = JSON.parse(holder));
  } catch {
    return true;
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'ESRCH';
  }
  // The number may have been given to another process since.
  return started !== startOf(pid);
}

/**
 * When a process started, in the kernel's ticks, where the system tells (Linux); else null. Null as well for a process that has
 * ended and only waits for its parent to notice, which in a container can take for ever.
 */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : fields[19];
  } catch {
    return null;
  }
}
