import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lockHolder, statedHolder } from '@cdui/host/single-instance';

/** What a listening server writes into `server.addr`. */
export interface ServerAddress {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  readonly boot_id: string;
  readonly version: string;
}

/** A server that has a folder to itself. */
export interface FoundServer {
  readonly folder: string;
  readonly pid: number;
  readonly started: string | null;
  /** Whether it is about to end. */
  readonly stopping: boolean;
  /** Null while it does not answer yet. */
  readonly address: ServerAddress | null;
}

export const serverFile = {
  address: (folder: string) => join(folder, 'server.addr'),
  pid: (folder: string) => join(folder, 'server.pid'),
  log: (folder: string) => join(folder, 'server.log'),
  lock: (folder: string) => join(folder, 'server.lock'),
  token: (folder: string) => join(folder, 'session.token'),
};

/** The address file as it is, whether its writer lives or not; null when there is none. */
export function readAddress(folder: string): ServerAddress | null {
  try {
    const address = JSON.parse(readFileSync(serverFile.address(folder), 'utf8')) as Partial<ServerAddress> | null;
    return typeof address?.url === 'string' && typeof address.pid === 'number' ? (address as ServerAddress) : null;
  } catch {
    return null;
  }
}

/**
 * The address of the server that has the folder. What a killed one left behind does not count, even when its number is another process's by
 * now: somebody else's server may answer there.
 */
export function liveAddress(folder: string): ServerAddress | null {
  const address = readAddress(folder);
  return address !== null && address.pid === statedHolder(serverFile.lock(folder))?.pid ? address : null;
}

/** The server's token; null when there is none, or it is not for this user's eyes. */
export function readToken(folder: string): string | null {
  try {
    return readFileSync(serverFile.token(folder), 'utf8').trim() || null;
  } catch {
    return null;
  }
}

/**
 * The server that has a folder. The lock says so, not a file with a number in it: a lock cannot outlive its holder, and no other process can
 * be taken for it.
 */
export async function findServer(folder: string): Promise<FoundServer | null> {
  const holder = await lockHolder(serverFile.lock(folder));
  if (holder === null) return null;
  const address = readAddress(folder);
  return {
    folder,
    pid: holder.pid,
    started: holder.started,
    stopping: holder.stopping,
    address: address?.pid === holder.pid ? address : null,
  };
}

/** Removes what a server that was killed left behind. @returns whether there was anything */
export function removeStaleFiles(folder: string): boolean {
  if (liveAddress(folder) !== null) return false;
  const stale = [serverFile.address(folder), serverFile.pid(folder)].filter((file) => exists(file));
  for (const file of stale) rmSync(file, { force: true });
  return stale.length > 0;
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}
