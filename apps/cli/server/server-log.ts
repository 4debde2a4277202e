import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '@cdui/host/make-folder';

/** A log that is larger when its program starts gets `.1` behind its name, in place of the one before it. */
const KEEP_BYTES = 8 * 1024 * 1024;
const TAIL_BYTES = 16 * 1024;

/** Opens the log of a program that is about to start, for appending. The caller closes the file. */
export async function openLog(file: string): Promise<number> {
  await makeFolder(dirname(file));
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > KEEP_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/** The last lines after a byte offset of the log. */
export function tailOfLog(file: string, from: number, lines: number): string {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = statSync(file);
    const start = Math.max(Math.min(from, size), size - TAIL_BYTES);
    const bytes = Buffer.alloc(size - start);
    const read = readSync(fd, bytes, 0, bytes.length, start);
    return bytes.toString('utf8', 0, read).trimEnd().split('\n').slice(-lines).join('\n');
  } finally {
    closeSync(fd);
  }
}

export function logSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
