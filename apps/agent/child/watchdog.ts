import { Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { becomeSubreaper, ProcessTree, refOf } from '@cdui/host/process-tree';
import { CodedError } from '@cdui/protocol';
import { StopWord } from '@cdui/run-host/client/stop-word';
import { CONTROL_FD, ControlReader } from '../runner/control';
import type { FromWatchdog, ToWatchdog, WatchdogData } from './watchdog-data';

/** A run whose agent is gone may stop by itself for so long; then it is ended. */
const ALONE_MS = 2_000;
/** Its descendants get so long to go before it is ended all the same. */
const KILL_MS = 2_000;

/** Listens to the agent on behalf of a main thread that may never listen again, and ends the process when the agent is gone. */
function main({ stop: buffer, cookie }: WatchdogData): void {
  const port = parentPort;
  if (!port) throw new CodedError('not_a_thread', 'The watchdog’s entry must be started as a thread');
  const stop = new StopWord(buffer);
  const post = (message: FromWatchdog): void => port.postMessage(message);
  // What the run starts and leaves behind becomes this process's child, where it is found.
  becomeSubreaper();
  const reader = new ControlReader();
  const agent = new Socket({ fd: CONTROL_FD, readable: true, writable: false });
  agent.on('data', (chunk) => {
    for (const message of reader.push(chunk)) {
      if (message.type === 'cancel') stop.set(message.reason);
      post(message);
    }
  });
  agent.on('error', () => undefined);
  agent.once('close', () => {
    stop.set('lost');
    post({ type: 'cancel', reason: 'lost' });
    setTimeout(() => void end(cookie), ALONE_MS);
  });
  port.on('message', ({ type }: ToWatchdog) => {
    if (type === 'sweep') void killDescendants(cookie).then(() => post({ type: 'swept' }));
  });
}

/** Kills whatever came of this process, but not itself. */
async function killDescendants(cookie: string): Promise<void> {
  await new ProcessTree(refOf(process.pid), cookie).kill(KILL_MS);
}

/** Nobody is there to be told anything: the end may be abrupt, but it must come. */
async function end(cookie: string): Promise<void> {
  setTimeout(endGroup, KILL_MS);
  await killDescendants(cookie).finally(endGroup);
}

/** The process was started as the leader of a group of its own. */
function endGroup(): void {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    // It leads no group.
  }
  process.kill(process.pid, 'SIGKILL');
}

main(workerData as WatchdogData);
