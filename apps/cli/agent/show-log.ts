import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentFile, agentFolder, defaultAgentName } from '@cdui/host/agent-files';
import { EXIT } from '../exit-codes';
import { Failure } from '../failure';
import { serverFolders } from '../server/data-folder';
import { tailOfLog } from '../server/server-log';
import { LogJson } from './log-json';

const PAUSE_MS = 200;

export interface LogChoice {
  readonly name?: string;
  readonly follow?: boolean;
  readonly lines?: number;
  /** Whether each line is printed as a JSON document. */
  readonly json?: boolean;
}

/** Prints the end of an agent's log, and what comes after it until Ctrl+C. @throws Failure `no_log` */
export async function showAgentLog({
  name = defaultAgentName(),
  follow = false,
  lines = 50,
  json = false,
}: LogChoice): Promise<number> {
  const files = serverFolders(process.env).map((userData) => agentFile.log(agentFolder(userData, name)));
  const file = files.find((path) => sizeOf(path) !== null);
  if (file === undefined)
    throw new Failure('no_log', `No agent "${name}" was ever started in the background: there is no ${files[0]}`);
  let offset = sizeOf(file) ?? 0;
  const tail = lines === 0 ? '' : tailOfLog(file, 0, lines);
  const parts = json ? new LogJson() : null;
  const write = (bytes: Buffer): void => void process.stdout.write(parts?.push(bytes) ?? bytes);
  if (tail !== '') write(Buffer.from(`${tail}\n`));
  while (follow) {
    const size = sizeOf(file) ?? 0;
    // It was put aside, and a new one begun.
    if (size < offset) offset = 0;
    if (size > offset) offset += copy(file, offset, size, write);
    else await sleep(PAUSE_MS);
  }
  return EXIT.ok;
}

function copy(file: string, from: number, to: number, write: (bytes: Buffer) => void): number {
  const fd = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(Math.min(to - from, 64 * 1024));
    const read = readSync(fd, bytes, 0, bytes.length, from);
    write(bytes.subarray(0, read));
    return read;
  } finally {
    closeSync(fd);
  }
}

function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}
