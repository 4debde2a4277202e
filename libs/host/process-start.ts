import { readFileSync } from 'node:fs';

/**
 * When a process started, as text that only serves for comparison (the kernel's ticks since boot; Linux). Null where the system does not
 * tell, when there is no such process, and for one that has ended and only waits for its parent to notice.
 */
export function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything, spaces and parentheses included.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/**
 * Whether the process that was seen under this number lives.
 * @param started what `processStart` said of it then: another one that got its number since is not it
 */
export function isAlive(pid: number, started: string | null = null): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It is there, and somebody else's.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return process.platform === 'linux' ? processStart(pid) !== null && matches(pid, started) : true;
}

function matches(pid: number, started: string | null): boolean {
  return started === null || processStart(pid) === started;
}
