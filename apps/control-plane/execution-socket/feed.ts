import { type RunStatus, TERMINAL_EVENTS } from '@cdui/protocol';
import type { EventLog } from '../events/event-log';
import { eventFrame } from './frames';
import type { Outlet } from './outlet';

/** Events and bytes that one read of the log takes: what a client that does not read costs in memory. */
const PAGE_EVENTS = 512;
const PAGE_BYTES = 64 * 1024;
/** A follower looks again after this long, even when nobody woke it up. */
const PATIENCE_MS = 30_000;

const ENDS: ReadonlySet<string> = new Set(TERMINAL_EVENTS);

export interface FeedSource {
  readonly log: EventLog;
  /** Null for a run that is not there (any more). */
  readonly state: (runId: string) => Promise<{ readonly status: RunStatus; readonly active: boolean } | null>;
}

/**
 * Sends the stored events of a run from a cursor on, each once and in order, as fast as the socket takes them, until the last one.
 * @returns how it ended: with the run's last event, because the run is gone, or because the signal was aborted
 */
export async function feed(
  source: FeedSource,
  outlet: Outlet,
  run: { readonly id: string; readonly cursor: number },
  signal: AbortSignal,
): Promise<'ended' | 'gone' | 'stopped'> {
  let { cursor } = run;
  let last = false;
  while (!signal.aborted) {
    const page = await source.log.read(run.id, cursor, PAGE_EVENTS, PAGE_BYTES);
    if (signal.aborted) break;
    if (page.events.length > 0) {
      cursor = page.cursor;
      await outlet.send(page.events.map((event) => eventFrame(run.id, event)));
      if (ENDS.has(page.events.at(-1)!.type)) return 'ended';
      continue;
    }
    // Nothing came after the run had ended: it is all there was.
    if (last) return 'ended';
    const state = await source.state(run.id);
    if (state === null) return 'gone';
    last = !state.active;
    if (!last) await source.log.wait(run.id, cursor, PATIENCE_MS, signal);
  }
  return 'stopped';
}
