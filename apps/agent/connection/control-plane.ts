import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { statedHolder } from '@cdui/host/single-instance';
import { CodedError } from '@cdui/protocol';

/** Where the control plane answers, and what it must be shown. */
export interface Place {
  /** Of the worker socket. */
  readonly url: string;
  readonly token: string;
}

/**
 * Finds the control plane of this machine that keeps its data in a folder. Both may change with every start of the server, so it is looked for before
 * every dial. Without a URL it is the one that holds the folder at this moment: what a killed server left behind may be another program's address
 * by now, which must not be shown the token.
 *
 * @param control its URL, when it was named
 * @throws CodedError `no_server` in words for the log
 */
export async function findControlPlane(folder: string, control: string | null): Promise<Place> {
  const [token, url] = await Promise.all([readToken(folder), control ?? addressIn(folder)]);
  const socket = new URL('/ws/worker', url);
  socket.protocol = socket.protocol === 'https:' ? 'wss:' : 'ws:';
  return { url: socket.href, token };
}

/**
 * Checks an address that was given for the control plane.
 *
 * @throws CodedError `invalid_control` when it is no URL, or one of another machine: that needs a credential of its own
 */
export function checkControl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new CodedError('invalid_control', `"${text}" is no address: give one such as http://127.0.0.1:8000`, {
      control: text,
    });
  }
  if (!/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)) {
    const message = `${url.host} is another machine: an agent can only work for a control plane of its own machine so far`;
    throw new CodedError('invalid_control', message, { control: text });
  }
  return url.origin;
}

async function readToken(folder: string): Promise<string> {
  const file = join(folder, 'session.token');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    throw new CodedError('no_server', `${file} cannot be read: no server was started on ${folder} yet`, { folder });
  }
}

async function addressIn(folder: string): Promise<string> {
  try {
    const { url, pid } = JSON.parse(await readFile(join(folder, 'server.addr'), 'utf8')) as {
      readonly url?: unknown;
      readonly pid?: unknown;
    };
    if (typeof url === 'string' && pid === statedHolder(join(folder, 'server.lock'))?.pid) return url;
  } catch {
    // There is none, or it is just being written.
  }
  throw new CodedError('no_server', `no server runs on ${folder}`, { folder });
}
