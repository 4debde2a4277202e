import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from '../auth/session-token';

export const ADDRESS_FILE = 'server.addr';
export const PID_FILE = 'server.pid';

/** What `server.addr` holds: how programs of this machine find the server of a user data folder. */
export interface ServerAddressFile {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  readonly boot_id: string;
  readonly version: string;
}

/** Written when the server listens: whoever reads the address finds it answering. */
export async function writeServerFiles(folder: string, address: ServerAddressFile): Promise<void> {
  await writePrivate(folder, PID_FILE, `${address.pid}\n`);
  await writePrivate(folder, ADDRESS_FILE, `${JSON.stringify(address)}\n`);
}

/** Removes the files of this process; those of a successor stay. Never throws: it is among the last things a server does. */
export function removeServerFiles(folder: string, pid: number = process.pid): void {
  try {
    const { pid: owner } = JSON.parse(readFileSync(join(folder, ADDRESS_FILE), 'utf8')) as { pid?: number };
    if (owner !== pid) return;
    for (const name of [ADDRESS_FILE, PID_FILE]) rmSync(join(folder, name), { force: true });
  } catch {
    // Gone already, or never written.
  }
}
