import { type INestApplication, Logger } from '@nestjs/common';
import { endNow } from '@cdui/host/end-now';
import { Boot } from './boot';
import { flushLog } from './logging.module';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** Longer than runs get to stop and requests to be answered: what is not over by then hangs. */
const PATIENCE_MS = 15_000;
/** Loading what ends the process needs a thread that reads files. */
const KILL_MS = 1_000;

export interface Stopping {
  readonly app: INestApplication;
  /** Runs that still compute after their time was over. */
  readonly unfinished: () => number;
  /** Tells others that the server is about to end. */
  readonly tell: () => void;
  /** Files that tell others of this server; removed last. */
  readonly removeFiles: () => void;
  /** How long closing may take, in milliseconds. */
  readonly patienceMs?: number;
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
async function stopServer(stopping: Stopping, cause: string, planned: number): Promise<void> {
  const { app, tell, unfinished, removeFiles, patienceMs = PATIENCE_MS } = stopping;
  const late = setTimeout(() => {
    process.stderr.write(
      `The server was not closed within ${patienceMs / 1000} s after ${cause}: something that it waits for hangs, such as a file of a folder that does not ` +
        'answer. It is ended as it is; what it has acknowledged is stored\n',
    );
    end(1, removeFiles);
  }, patienceMs);
  let status = planned;
  try {
    tell();
    app.get(Boot).stopping = true;
    await app.close();
  } catch (error) {
    status = 1;
    process.stderr.write(`The server did not stop in order after ${cause}: ${String(error)}\n`);
  }
  clearTimeout(late);
  // A thread that computes natively must not be ended with the process: that aborts it with a core dump. The database is closed by now.
  if (unfinished() > 0) end('killed', removeFiles);
  else end(status, removeFiles);
}

/**
 * At once, for an orderly end waits for every thread of the pool, and one that hangs in a call of the system would keep the process for ever. Where
 * that is not possible the process is ended from outside.
 */
function end(status: number | 'killed', removeFiles: () => void): void {
  removeFiles();
  flushLog();
  const kill = (): void => void process.kill(process.pid, 'SIGKILL');
  if (status === 'killed') return kill();
  setTimeout(kill, KILL_MS);
  void endNow(status);
}
