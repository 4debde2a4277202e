import type { INestApplication } from '@nestjs/common';
import { Boot } from './boot';
import { flushLog } from './logging.module';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** Longer than runs get to stop and requests to be answered: what is not over by then hangs. */
const PATIENCE_MS = 15_000;

export interface Stopping {
  readonly app: INestApplication;
  /** Runs that still compute after their time was over. */
  readonly unfinished: () => number;
  /** Files that tell others of this server; removed last. */
  readonly removeFiles: () => void;
}

/**
 * Stops the server in order when the system asks for it: no more work is taken, waiting runs are retired, running ones get their time to stop, the log
 * is written out, the database closed. A second signal does not make it faster: what is under way is bounded.
 */
export function stopOnSignals(stopping: Stopping): void {
  let begun = false;
  const stop = (signal: string): void => {
    if (begun) return;
    begun = true;
    void stopServer(stopping, signal);
  };
  for (const signal of SIGNALS) process.on(signal, () => stop(signal));
}

/** Never returns: the process ends, with status 0 when all went in order. */
async function stopServer({ app, unfinished, removeFiles }: Stopping, signal: string): Promise<void> {
  const late = setTimeout(() => end(1, () => 1, removeFiles), PATIENCE_MS);
  let status = 0;
  try {
    app.get(Boot).stopping = true;
    await app.close();
  } catch (error) {
    status = 1;
    process.stderr.write(`The server did not stop in order after ${signal}: ${String(error)}\n`);
  }
  clearTimeout(late);
  end(status, unfinished, removeFiles);
}

/**
 * A thread that computes natively must not be ended with the process: that aborts it with a core dump. The database is closed by now, so that the
 * process can be ended from outside instead.
 */
function end(status: number, unfinished: () => number, removeFiles: () => void): void {
  removeFiles();
  flushLog();
  if (unfinished() > 0) process.kill(process.pid, 'SIGKILL');
  process.exit(status);
}
