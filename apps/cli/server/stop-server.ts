import { isAlive } from '@cdui/host/process-start';
import { Failure } from '../failure';
import { findServer, type FoundServer, removeStaleFiles } from './server-files';
import { until } from './until';

/** The server gives running runs 5 s to stop, then it closes its database: more than twice that means that it hangs. */
export const STOP_GRACE_S = 15;
const KILL_WAIT_MS = 5_000;

export type Stopped =
  | { readonly how: 'none'; readonly stale: boolean }
  | { readonly how: 'stopped' | 'killed'; readonly pid: number; readonly url: string | null; readonly ms: number };

/**
 * Ends the server of a folder: asks it first, so that it retires what waits and stops what runs, and kills it after the grace.
 * @throws Failure `stop_failed` when it belongs to somebody else, or does not even die
 */
export async function stopServer(folder: string, graceMs: number): Promise<Stopped> {
  const begun = performance.now();
  const server = await findServer(folder);
  if (server === null) return { how: 'none', stale: removeStaleFiles(folder) };
  if (server.pid === 0) throw new Failure('stop_failed', `A server is just starting on ${folder}: try again`);
  const ended = (how: 'stopped' | 'killed'): Stopped => {
    // A server that was killed cannot tidy up; one that starts right now has not written its own yet, or has the lock.
    removeStaleFiles(folder);
    return { how, pid: server.pid, url: server.address?.url ?? null, ms: performance.now() - begun };
  };
  signal(server, server.pid, 'SIGTERM');
  if (await gone(server, graceMs)) return ended('stopped');
  // Programs that it started are in its group; they would be left without anybody to end them.
  signal(server, -server.pid, 'SIGKILL');
  if (await gone(server, KILL_WAIT_MS)) return ended('killed');
  throw new Failure('stop_failed', `Process ${server.pid} does not end, not even when it is killed`);
}

function signal(server: FoundServer, target: number, name: NodeJS.Signals): void {
  // Its number may be another process's by now.
  if (!isAlive(server.pid, server.started)) return;
  try {
    process.kill(target, name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH' && target < 0) return signal(server, server.pid, name);
    if (code === 'ESRCH') return;
    throw new Failure(
      'stop_failed',
      `Process ${server.pid} cannot be stopped: ${code === 'EPERM' ? 'it belongs to another user' : String(code)}`,
    );
  }
}

/** Whether its lock and the process are gone in time. */
async function gone(server: FoundServer, ms: number): Promise<boolean> {
  const answer = await until(ms, async () => {
    if (isAlive(server.pid, server.started)) return null;
    const holder = await findServer(server.folder);
    return holder === null || holder.pid !== server.pid ? true : null;
  });
  return answer === true;
}
