import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject } from '@cdui/protocol';

/** What an agent that was killed leaves behind about a run's process, so that the next one finds what is left of its tree. */
export interface CookieFile {
  /** What the environment of every process of the tree holds. */
  readonly cookie: string;
  /** The first process; null while it is not known yet. */
  readonly pid: number | null;
  /** When that process started, as `processStart` says it: another one may have its number by now. */
  readonly start_time: string | null;
  /** Of the run; null for a process that has none yet. */
  readonly attempt: number | null;
}

const NAME = 'cookie.json';

export function newCookie(): string {
  return randomBytes(16).toString('hex');
}

/** Whole or not at all. @throws the system's error, such as ENOSPC */
export function writeCookie(folder: string, file: CookieFile): void {
  const path = join(folder, NAME);
  writeFileSync(`${path}.new`, JSON.stringify(file), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Null when there is none that can be read. */
export function readCookie(folder: string): CookieFile | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, NAME), 'utf8'));
    return isPlainObject(value) && typeof value['cookie'] === 'string' ? (value as unknown as CookieFile) : null;
  } catch {
    return null;
  }
}

/** Removes it, unless it is that of another process by now: a later attempt of the run may have begun in the same place. */
export function removeCookie(folder: string, cookie: string): void {
  if (readCookie(folder)?.cookie === cookie) rmSync(join(folder, NAME), { force: true });
}
