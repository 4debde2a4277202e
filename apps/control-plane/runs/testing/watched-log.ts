import type { Clock } from '@cdui/execution';
import type { MemoryDatabase } from '@cdui/execution/testing/memory-stores';
import type { TerminalEvent } from '@cdui/protocol';
import type { ConsoleLogs } from '../../events/console-logs';
import { StoredEventLog } from '../../events/stored-event-log';

/** The real event log; keeps which ends were made known, in the order in which they were. */
export class WatchedLog extends StoredEventLog {
  readonly published: { readonly runId: string; readonly cursor: number; readonly type: string }[] = [];

  constructor({ runs, events }: MemoryDatabase, clock: Clock) {
    super({ runs, events, clock, consoles: SILENT, payloadCapBytes: 65_536 });
  }

  override publishEnd(runId: string, cursor: number, event: TerminalEvent, at: number): void {
    this.published.push({ runId, cursor, type: event.type });
    super.publishEnd(runId, cursor, event, at);
  }
}

/** Nothing is printed here. */
const SILENT = { append: () => undefined } as unknown as ConsoleLogs;
