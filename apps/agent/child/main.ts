import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { endNow } from '@cdui/host/end-now';
import { entryPath } from '@cdui/host/entry';
import { RUN_COOKIE_VARIABLE } from '@cdui/host/process-tree';
import { StopWord } from '@cdui/run-host/client/stop-word';
import { FRAMES_FD } from '../runner/control';
import { capture } from './console';
import { beNice, niceSetting } from './nice';
import { PipeWriter } from './pipe-writer';
import { RunChild } from './run-child';
import type { FromWatchdog, ToWatchdog, WatchdogData } from './watchdog-data';
import { WATCHDOG_ENTRY } from './watchdog-data';

/** The process of one run: executes what its agent assigns, reports it, and ends. */
function main(): void {
  beNice(niceSetting(process.env));
  const stop = new StopWord();
  const workerData: WatchdogData = { stop: stop.buffer, cookie: process.env[RUN_COOKIE_VARIABLE] ?? '' };
  const watchdog = new Worker(entryPath(WATCHDOG_ENTRY), { workerData });
  const child = new RunChild({
    pipe: (taken) => new PipeWriter(new Socket({ fd: FRAMES_FD, readable: false, writable: true }), taken),
    stopRequested: () => stop.reason,
    over: () => watchdog.postMessage({ type: 'sweep' } satisfies ToWatchdog),
  });
  capture(process.stdout, (text) => child.console(text));
  capture(process.stderr, (text) => child.console(text));
  const fail = (error: unknown): void => {
    if (child.defect(error)) return;
    console.error(error);
    void endNow(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  watchdog.on('error', fail);
  watchdog.on('message', (message: FromWatchdog) => {
    if (message.type === 'start') {
      process.chdir(message.folder);
      child.start(message.assignment, message.assignedAt);
    } else if (message.type === 'cancel') child.cancel(message.reason);
    // Nothing is lost by an abrupt end, and a step that the runtime still computes cannot spoil it.
    else void endNow(0);
  });
  child.prepare();
}

main();
