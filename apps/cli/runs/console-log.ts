import { isTerminal } from '@cdui/protocol';
import type { Api, LogPart } from '../client/api';
import { type Connection, persistently } from '../client/persistence';

const WAIT_S = 25;

/** Where the bytes of a log go, with the place that they have in it; resolves when there is room for more. */
export type LogSink = (bytes: Uint8Array, offset: number) => Promise<void>;

type Server = Pick<Api, 'log' | 'relocate'>;

/**
 * Writes what a run printed, and with `follow` what it goes on to print until it ends. A lost server is waited for, and reading goes on behind
 * the last byte that came.
 * @returns bytes that were dropped on the way: a very long log keeps its beginning and its end
 */
export async function readConsoleLog(
  api: Server,
  id: string,
  follow: boolean,
  write: LogSink,
  connection: Connection,
  signal: AbortSignal,
): Promise<number> {
  let dropped = 0;
  for (let offset = 0, wait = 0; ; wait = follow ? WAIT_S : 0) {
    const ask = (): Promise<LogPart> => api.log(id, offset, wait, signal);
    const part = await (follow ? persistently(ask, { relocate: () => api.relocate(), connection, signal }) : ask());
    dropped += Math.max(0, part.offset - offset);
    if (part.bytes.length > 0) await write(part.bytes, part.offset);
    offset = part.next;
    const done = follow ? isTerminal(part.status) && !part.active : true;
    if (done && part.bytes.length === 0) return dropped;
  }
}
