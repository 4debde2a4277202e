import type { EventPage } from '@cdui/execution';

/** Pages that are kept for those who come after: what a crowd needs that reads the same log at about the same time. */
const KEPT_PAGES = 32;
const KEPT_BYTES = 16 * 1024 * 1024;

interface Kept {
  readonly page: Promise<EventPage>;
  bytes: number;
}

/** Lets all who ask for the same page of a log at about the same time share one reading of it. Only for pages that never change any more. */
export class SharedPages {
  private readonly pages = new Map<string, Kept>();
  private bytes = 0;

  /** @param read reads the page if nobody has */
  page(key: string, read: () => Promise<EventPage>): Promise<EventPage> {
    const known = this.pages.get(key);
    if (known) return known.page;
    const kept: Kept = { page: read(), bytes: 0 };
    this.pages.set(key, kept);
    kept.page.then(
      (page) => this.keep(key, kept, page),
      () => this.pages.delete(key),
    );
    return kept.page;
  }

  /** Forgets the pages of a run. */
  forget(runId: string): void {
    for (const [key, kept] of this.pages) if (key.startsWith(`${runId} `)) this.drop(key, kept);
  }

  private keep(key: string, kept: Kept, { events }: EventPage): void {
    // Forgotten meanwhile.
    if (this.pages.get(key) !== kept) return;
    for (const { payload } of events) kept.bytes += payload.length;
    this.bytes += kept.bytes;
    for (const [oldest, other] of this.pages) {
      if (this.pages.size <= KEPT_PAGES && this.bytes <= KEPT_BYTES) break;
      if (other.bytes > 0) this.drop(oldest, other);
    }
  }

  private drop(key: string, kept: Kept): void {
    this.pages.delete(key);
    this.bytes -= kept.bytes;
  }
}
