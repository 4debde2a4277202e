import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { entryPath } from '@cdui/host/entry';
import { Failure } from '../failure';
import type { Environment } from './data-folder';
import { healthOf } from './health';
import { findServer, removeStaleFiles, type ServerAddress, serverFile } from './server-files';
import { logSize, openLog, tailOfLog } from './server-log';
import { until } from './until';

const HEALTH_WAIT_MS = 20_000;

export interface StartChoice {
  readonly folder: string;
  readonly host?: string;
  readonly port?: number;
  readonly env: Environment;
}

export interface Started {
  readonly address: ServerAddress;
  /** Whether it ran before. */
  readonly already: boolean;
  readonly ms: number;
}

/**
 * Starts a server in the background, in a session of its own, so that it outlives this terminal; resolves when it answers.
 * @throws Failure `start_failed` with the end of its log, `start_slow` when it does not answer in time (it goes on starting),
 *   `already_running` when one runs on the folder at another address than asked for, `stop_slow` when the one before does not end
 */
export async function startServer(choice: StartChoice): Promise<Started> {
  const begun = performance.now();
  const { folder } = choice;
  const running = await addressOfRunning(folder);
  if (running !== null) {
    refuseOtherAddress(choice, running);
    return { address: running, already: true, ms: performance.now() - begun };
  }
  removeStaleFiles(folder);
  const log = await openLog(serverFile.log(folder));
  const from = logSize(serverFile.log(folder));
  const child = launch(choice, log);
  closeSync(log);
  let over = false;
  child.once('exit', () => (over = true)).once('error', () => (over = true));
  const address = await answering(folder, child.pid ?? 0, () => over);
  child.unref();
  if (address === 'over') throw ending(folder, from, child);
  if (address === null) throw slow(folder, child.pid ?? 0);
  return { address, already: false, ms: performance.now() - begun };
}

/** The environment in which the server of this choice runs. */
export function serverEnvironment({ folder, host, port, env }: StartChoice): NodeJS.ProcessEnv {
  return {
    ...env,
    CODEFYUI_USER_DATA_DIR: folder,
    ...(host !== undefined && { CODEFYUI_HOST: host }),
    ...(port !== undefined && { CODEFYUI_PORT: String(port) }),
  };
}

function launch(choice: StartChoice, log: number): ChildProcess {
  return spawn(process.execPath, [entryPath('apps/control-plane/main')], {
    detached: true,
    stdio: ['ignore', log, log],
    env: serverEnvironment(choice),
  });
}

/** The address of the server that has the folder; null when none has it, or the one that had it has ended. @throws Failure `start_slow` */
async function addressOfRunning(folder: string): Promise<ServerAddress | null> {
  const answer = await until(HEALTH_WAIT_MS, async () => {
    const server = await findServer(folder);
    if (server === null) return 'none';
    // One that ends makes room.
    return server.stopping ? null : server.address;
  });
  if (answer === 'none') return null;
  if (answer !== null) return answer;
  const server = await findServer(folder);
  if (server === null) return null;
  throw slow(folder, server.pid, server.stopping);
}

/** Its address, once it also answers there; `over` when it has ended before. */
export function answering(
  folder: string,
  pid: number,
  ended = (): boolean => false,
): Promise<ServerAddress | 'over' | null> {
  return until(HEALTH_WAIT_MS, async () => {
    if (ended()) return 'over';
    const server = await findServer(folder);
    if (server === null || server.pid !== pid || server.address === null) return null;
    return (await healthOf(server.address.url)) === null ? null : server.address;
  });
}

function refuseOtherAddress({ folder, host, port }: StartChoice, address: ServerAddress): void {
  const other = (host !== undefined && host !== address.host) || (port !== undefined && port !== address.port);
  if (!other) return;
  throw new Failure(
    'already_running',
    `A server runs on ${folder} already, at ${address.url} (process ${address.pid}): stop it first with "cdui stop"`,
  );
}

function ending(folder: string, from: number, { exitCode, signalCode }: ChildProcess): Failure {
  const how = signalCode ? `was ended by ${signalCode}` : `ended with ${exitCode}`;
  const said = tailOfLog(serverFile.log(folder), from, 20);
  return new Failure(
    'start_failed',
    `The server did not start: it ${how}. ${said === '' ? `Its log is ${serverFile.log(folder)}` : `It said:\n${said}`}`,
  );
}

function slow(folder: string, pid: number, stopping = false): Failure {
  if (stopping) {
    const message = `The server (process ${pid}) is stopping and has not ended within ${HEALTH_WAIT_MS / 1000} s: "cdui stop" ends it. Its log is ${serverFile.log(folder)}`;
    return new Failure('stop_slow', message);
  }
  return new Failure(
    'start_slow',
    `The server (process ${pid}) has not answered within ${HEALTH_WAIT_MS / 1000} s. It goes on starting: see "cdui status" and ${serverFile.log(folder)}`,
  );
}
