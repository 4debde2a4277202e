import type { EventPage, StoredEvent } from '@cdui/execution';

/** What is kept of a run in memory: what a fast one reports in the time in which a crowd of followers is let wait, and more. */
const RECENT_EVENTS = 32_768;
const RECENT_BYTES = 8 * 1024 * 1024;

/** The newest committed events of a run. */
export class RecentEvents {
  private events: StoredEvent[] = [];
  /** Where the oldest one stands in `events`: what is before it goes when there is enough of it. */
  private start = 0;
  private bytes = 0;
  private newest: number | null = null;
  private lastPage: { readonly key: string; readonly page: EventPage } | null = null;

  /** The cursor of the last committed event; null until `begin`. */
  get last(): number | null {
    return this.newest;
  }

  /** From now on `add` gets every event after this one. */
  begin(last: number): void {
    this.newest = last;
  }

  add(events: readonly StoredEvent[]): void {
    for (const event of events) {
      this.events.push(event);
      this.bytes += event.payload.length;
      this.newest = event.cursor;
    }
    while (
      this.events.length - this.start > RECENT_EVENTS ||
      (this.bytes > RECENT_BYTES && this.start < this.events.length)
    ) {
      this.bytes -= this.events[this.start]!.payload.length;
      this.start += 1;
    }
    if (this.start > RECENT_EVENTS) {
      this.events = this.events.slice(this.start);
      this.start = 0;
    }
  }

  /** The events after a cursor; null when some of them are not here any more. */
  page(after: number, limit: number, capBytes: number): EventPage | null {
    if (this.newest === null) return null;
    if (after >= this.newest) return { events: [], cursor: after };
    const index = this.start + after + 1 - (this.newest - (this.events.length - this.start) + 1);
    if (index < this.start) return null;
    // A crowd of followers asks for the same page after each commit.
    const key = `${after} ${limit} ${capBytes} ${this.newest}`;
    if (this.lastPage?.key === key) return this.lastPage.page;
    let [end, bytes] = [index, 0];
    while (end < this.events.length && end - index < limit && (end === index || bytes < capBytes)) {
      bytes += this.events[end]!.payload.length;
      end += 1;
    }
    const events = this.events.slice(index, end);
    const page = { events, cursor: events.at(-1)?.cursor ?? after };
    this.lastPage = { key, page };
    return page;
  }
}
