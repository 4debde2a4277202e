import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { makeFolder } from '@cdui/host/make-folder';
import { serverFile } from './server-files';

/** A log that is larger when a server starts becomes `server.log.1`, in place of the one before it. */
const KEEP_BYTES = 8 * 1024 * 1024;
const TAIL_BYTES = 16 * 1024;

/** Opens the log of a server that is about to start, for appending. The caller closes the file. */
export async function openLog(folder: string): Promise<number> {
  await makeFolder(folder);
  const file = serverFile.log(folder);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > KEEP_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/** The last lines after a byte offset of the log. */
export function tailOfLog(folder: string, from: number, lines: number): string {
  let fd: number;
  try {
    fd = openSync(serverFile.log(folder), 'r');
  } catch {
    return '';
  }
  try {
    const { size } = statSync(serverFile.log(folder));
    const start = Math.max(Math.min(from, size), size - TAIL_BYTES);
    const bytes = Buffer.alloc(size - start);
    const read = readSync(fd, bytes, 0, bytes.length, start);
    return bytes.toString('utf8', 0, read).trimEnd().split('\n').slice(-lines).join('\n');
  } finally {
    closeSync(fd);
  }
}

export function logSize(folder: string): number {
  return statSync(serverFile.log(folder), { throwIfNoEntry: false })?.size ?? 0;
}
