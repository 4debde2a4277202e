import { members } from '../host-parts';

/** Kills every process that this one started, directly or not, but not itself. Resolves when none is left, or the time is over. */
export async function killDescendants(cookie: string, deadlineMs: number): Promise<void> {
  const end = performance.now() + deadlineMs;
  for (let pause = 1; ; pause = Math.min(50, pause * 2)) {
    const left = members(process.pid, cookie).filter((pid) => pid !== process.pid);
    for (const pid of left) process.kill(pid, 'SIGKILL');
    if (left.length === 0 || performance.now() >= end) return;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
