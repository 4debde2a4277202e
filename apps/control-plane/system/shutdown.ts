import { type INestApplication, Logger } from '@nestjs/common';
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
  const logger = new Logger('shutdown');
  let begun = false;
  const stop = (cause: string, status: number): void => {
    if (begun) return;
    begun = true;
    void stopServer(stopping, cause, status);
  };
  for (const signal of SIGNALS) process.on(signal, () => stop(signal, 0));
  // Ending at once would abort native threads, and leave runs to be found interrupted; what is in memory may be wrong, so no more work is taken.
  const defect = (error: unknown): void => {
    logger.fatal(error instanceof Error ? error : new Error(String(error)), 'a defect: the server stops');
    stop('a defect', 1);
  };
  process.on('uncaughtException', defect).on('unhandledRejection', defect);
}

/** Never returns: the process ends. */
async function stopServer({ app, unfinished, removeFiles }: Stopping, cause: string, planned: number): Promise<void> {
  const late = setTimeout(() => end(1, () => 1, removeFiles), PATIENCE_MS);
  let status = planned;
  try {
    app.get(Boot).stopping = true;
    await app.close();
  } catch (error) {
    status = 1;
    process.stderr.write(`The server did not stop in order after ${cause}: ${String(error)}\n`);
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
