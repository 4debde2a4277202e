import { isTerminal } from '@cdui/protocol';
import type { Api, RunDetail, RunEvent } from '../client/api';
import { type Connection, type Persistence, persistently } from '../client/persistence';
import { Failure } from '../failure';
import { type EndedRun, endOf } from './run-end';

/** Sees a run as it goes. */
export interface Follower extends Connection {
  /** It waits; called when it begins to, and when its place changes. */
  waiting(run: RunDetail): void;
  event(event: RunEvent): void;
}

/** While a run waits nothing is logged: its place is asked for this often, in seconds. */
const POSITION_S = 2;
/** A long poll's length, in seconds. */
const WAIT_S = 25;

type Server = Pick<Api, 'events' | 'run' | 'relocate'>;

/**
 * Follows a run from a cursor on until it has ended, and returns how it ended: from its row, or from its last event when the server keeps no ended runs. Every event is seen once, in order: after a lost connection
 * it goes on behind the last one that came.
 * @throws the signal's reason when it is aborted; the run does not notice
 */
export async function followRun(
  api: Server,
  id: string,
  cursor: number,
  follower: Follower,
  signal: AbortSignal,
  patience: Pick<Persistence, 'pauseMs' | 'giveUpMs'> = {},
): Promise<EndedRun> {
  const persistence = { ...patience, relocate: () => api.relocate(), connection: follower, signal };
  const run = (): Promise<RunDetail> => persistently(() => api.run(id, signal), persistence);
  let place = '';
  let startedAt: string | null = null;
  for (let wait = 0, last = cursor; ;) {
    const page = await persistently(() => api.events(id, last, wait, signal), persistence);
    for (const event of page.events) {
      if (event.cursor <= last) continue;
      follower.event(event);
      last = event.cursor;
      if (event.type === 'execution_start') startedAt = event.ts;
    }
    const end = page.events.map((event) => endOf(id, event, startedAt)).find((ended) => ended !== null);
    if (end) return run().catch((error: unknown) => (isGone(error) ? end : Promise.reject(error as Error)));
    if (isTerminal(page.status) && page.events.length === 0) return run();
    const waits = page.status === 'queued';
    if (waits) {
      const row = await run();
      const now = `${row.status} ${row.queue_position ?? ''} ${row.queue_reason ?? ''}`;
      if (row.status === 'queued' && now !== place) follower.waiting(row);
      place = now;
    }
    wait = waits ? POSITION_S : WAIT_S;
  }
}

/** Whether there is no such run any more: a server may keep few of those that have ended, or none. */
export function isGone(error: unknown): boolean {
  return error instanceof Failure && error.code === 'run_not_found';
}
