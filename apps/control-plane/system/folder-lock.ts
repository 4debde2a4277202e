import { join } from 'node:path';
import { acquireLock, lockHolder, type Lock } from '@cdui/host';
import { CodedError } from '@cdui/protocol';
import type { Settings } from '../config/settings';
import { realPlace } from './real-place';

export const LOCK_FILE = 'server.lock';

/**
 * Takes the user data folder for this process, before anything in it is opened; and the database, wherever it lies and by whatever path it is
 * named, for a server of another folder may be meant to use it too. Two servers on one database would each retire the other's runs.
 * @throws CodedError `already_running` with one sentence that names the server that has it; `lock_failed` and `folder_not_made` by the setting
 */
export async function takeFolders({ userDataDir, dbPath }: Pick<Settings, 'userDataDir' | 'dbPath'>): Promise<Lock> {
  const own = await take(
    userDataDir,
    join(userDataDir, LOCK_FILE),
    'stop it with "cdui stop", or set CODEFYUI_USER_DATA_DIR to another place',
    'CODEFYUI_USER_DATA_DIR',
  );
  try {
    const database = await take(
      dbPath,
      `${realPlace(dbPath)}.lock`,
      'stop it ("cdui stop" with its CODEFYUI_USER_DATA_DIR), or set CODEFYUI_DB_PATH to another place',
      'CODEFYUI_DB_PATH',
    );
    return both(own, database);
  } catch (error) {
    own.discard();
    throw error;
  }
}

async function take(what: string, file: string, wayOut: string, setting: string): Promise<Lock> {
  const lock = await acquireLock(file).catch((error: unknown) => {
    if (!(error instanceof CodedError)) throw error;
    const message = `${setting} is "${what}", which cannot be used: ${error.message}`;
    throw new CodedError(error.code, message, { ...error.params, setting }, { cause: error });
  });
  if (lock !== null) return lock;
  const holder = await lockHolder(file);
  const process = holder?.pid ? `process ${holder.pid}, ` : '';
  const where = holder?.stopping ? 'which is stopping' : (holder?.url ?? 'not answering yet');
  throw new CodedError('already_running', `Another server (${process}${where}) runs on ${what}: ${wayOut}`, {
    pid: holder?.pid || null,
    url: holder?.url ?? null,
    path: what,
  });
}

function both(...locks: readonly Lock[]): Lock {
  return {
    announce: (url) => locks.forEach((lock) => lock.announce(url)),
    leave: () => locks.forEach((lock) => lock.leave()),
    release: () => locks.forEach((lock) => lock.release()),
    discard: () => locks.forEach((lock) => lock.discard()),
  };
}
