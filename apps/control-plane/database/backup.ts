import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CodedError } from '@cdui/protocol';
import { Connection } from './sqlite/connection';
import { storageFailure } from './sqlite/failures';

/**
 * Copies the database as of one moment into a file of its own, which can be opened like the original. A server may go on writing meanwhile. The
 * copy appears under its name when it is whole and on the disk, and not at all otherwise.
 *
 * @throws CodedError `database_missing`, `backup_not_made` for a target that can be no file, `backup_exists` unless `replace`, `storage_failed`
 */
export async function backUp(file: string, target: string, { replace = false } = {}): Promise<void> {
  if (target.trim() === '') {
    throw new CodedError('backup_not_made', 'The name of the file is empty: name the file that the copy goes to', {});
  }
  const to = resolve(target);
  const found = statSync(to, { throwIfNoEntry: false });
  if (found && !found.isFile()) {
    const message = `${to} is ${found.isDirectory() ? 'a folder' : 'no plain file'}: name a file${found.isDirectory() ? ' in it' : ''}`;
    throw new CodedError('backup_not_made', message, { target: to });
  }
  if (!existsSync(file)) {
    throw new CodedError('database_missing', `There is no database at ${file}: nothing was ever stored there`, {
      file,
    });
  }
  if (to === resolve(file)) {
    throw new CodedError('backup_exists', `${to} is the database itself: name another file`, { target: to });
  }
  if (found && !replace) {
    throw new CodedError('backup_exists', `${to} exists: name another file, or replace it with --force`, {
      target: to,
    });
  }
  if (!statSync(dirname(to), { throwIfNoEntry: false })?.isDirectory()) {
    throw new CodedError('backup_not_made', `There is no folder ${dirname(to)}: make it first, or name another file`, {
      target: to,
    });
  }
  const unfinished = `${to}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await copy(file, unfinished);
    await onDisk(unfinished);
    await rename(unfinished, to);
    await onDisk(dirname(to));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw storageFailure(error, file);
  }
}

async function copy(file: string, to: string): Promise<void> {
  const connection = await Connection.open(file, 'read', 5000);
  try {
    await connection.all('VACUUM INTO ?', [to]);
  } finally {
    await connection.close();
  }
}

async function onDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
