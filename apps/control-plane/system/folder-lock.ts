import { dirname, join, sep } from 'node:path';
import { acquireLock, lockHolder, type Lock } from '@cdui/host';
import { CodedError } from '@cdui/protocol';
import type { Settings } from '../config/settings';

export const LOCK_FILE = 'server.lock';

/**
 * Takes the user data folder for this process, before anything in it is opened; and the database's folder, where that lies elsewhere.
 * Two servers on one database would each retire the other's runs.
 * @throws CodedError `already_running` with one sentence that names the server that has it
 */
export async function takeFolders({ userDataDir, dbPath }: Pick<Settings, 'userDataDir' | 'dbPath'>): Promise<Lock> {
  const inside = dbPath.startsWith(userDataDir + sep) || dirname(dbPath) === userDataDir;
  const own = await take(userDataDir, join(userDataDir, LOCK_FILE), 'CODEFYUI_USER_DATA_DIR');
  if (inside) return own;
  try {
    const database = await take(dbPath, `${dbPath}.lock`, 'CODEFYUI_DB_PATH');
    return both(own, database);
  } catch (error) {
    own.release();
    throw error;
  }
}

async function take(what: string, file: string, setting: string): Promise<Lock> {
  const lock = await acquireLock(file);
  if (lock !== null) return lock;
  const holder = await lockHolder(file);
  const process = holder?.pid ? `process ${holder.pid}, ` : '';
  const where = holder?.url ?? 'not answering yet';
  throw new CodedError(
    'already_running',
    `Another server (${process}${where}) runs on ${what}: stop it with "cdui stop", or set ${setting} to another place`,
    { pid: holder?.pid || null, url: holder?.url ?? null, path: what },
  );
}

function both(...locks: readonly Lock[]): Lock {
  return {
    announce: (url) => locks.forEach((lock) => lock.announce(url)),
    release: () => locks.forEach((lock) => lock.release()),
  };
}
