import type { ApiClient, Schema } from '@cdui/api-client';
import { isTerminal } from '@cdui/protocol';
import type { StoredRuns } from './stored-runs';

type Status = Schema<'RunRowDto'>['status'];
interface Seen {
  readonly type: string;
  readonly payload: string;
}

/** Whoever used the server and remembers what it said: none of it may be gone or different later. */
export class Witness {
  private readonly submitted = new Set<string>();
  private readonly ended = new Map<string, Status>();
  private readonly cancelled = new Set<string>();
  private readonly events = new Map<string, Map<number, Seen>>();
  /** Answers that no request should get. */
  readonly failures: string[] = [];
  private forgotten = 0;

  get count(): { readonly runs: number; readonly events: number } {
    const held = [...this.events.values()].reduce((sum, seen) => sum + seen.size, 0);
    return { runs: this.submitted.size, events: this.forgotten + held };
  }

  async submit(client: ApiClient, graph: Record<string, unknown>, name: string): Promise<string | null> {
    return this.asking(async () => {
      const { run_id } = await client.post('/api/runs', { body: { graph, name } });
      this.submitted.add(run_id);
      return run_id;
    });
  }

  async cancel(client: ApiClient, id: string): Promise<void> {
    await this.asking(async () => {
      const answer = await client.post('/api/runs/{id}/cancel', { path: { id } });
      if (answer.cancelled && answer.status === 'cancelled') this.cancelled.add(id);
    });
  }

  /** Follows a run until it ends, or the server does. */
  async follow(client: ApiClient, id: string): Promise<void> {
    await this.asking(async () => {
      for (let cursor = 0; ;) {
        const page = await client.get('/api/runs/{id}/events', {
          path: { id },
          query: { cursor, wait: 10, limit: 500 },
        });
        for (const { cursor: at, type, payload } of page.events)
          this.saw(id, at, { type, payload: JSON.stringify(payload) });
        cursor = page.cursor;
        if (!isTerminal(page.status)) continue;
        this.ended.set(id, page.status);
        if (page.events.length === 0) return;
      }
    });
  }

  /** What is missing or different in the database. */
  async violations(stored: StoredRuns): Promise<readonly string[]> {
    const wrong: string[] = [];
    for (const id of this.submitted) {
      const status = await stored.status(id);
      if (status === null) wrong.push(`run ${id} was accepted and is gone`);
      const before = this.cancelled.has(id) ? 'cancelled' : this.ended.get(id);
      if (status !== null && before !== undefined && status !== before)
        wrong.push(`run ${id} was ${before} and is ${status}`);
    }
    for (const [id, seen] of this.events) {
      for (const [cursor, { type, payload }] of seen) {
        const event = await stored.event(id, cursor);
        // Both texts come from one parser and one writer: the server splices what is stored into its answers.
        if (event?.type === type && JSON.stringify(JSON.parse(event.payload)) === payload) continue;
        wrong.push(`event ${cursor} of run ${id} was shown as ${type} ${payload} and is ${JSON.stringify(event)}`);
      }
    }
    return wrong;
  }

  /** Forgets events of ended runs that were found to be there: a long test would ask for the same ones again and again. */
  forgetEnded(): void {
    for (const id of this.ended.keys()) {
      this.forgotten += this.events.get(id)?.size ?? 0;
      this.events.delete(id);
    }
  }

  private saw(id: string, cursor: number, event: Seen): void {
    const seen = this.events.get(id) ?? new Map<number, Seen>();
    this.events.set(id, seen);
    const before = seen.get(cursor);
    if (before && (before.type !== event.type || before.payload !== event.payload)) {
      this.failures.push(`event ${cursor} of run ${id} was shown twice, and not alike`);
    }
    seen.set(cursor, event);
  }

  /** A server that is killed breaks connections off; everything else that goes wrong is remembered. */
  private async asking<T>(ask: () => Promise<T>): Promise<T | null> {
    try {
      return await ask();
    } catch (error) {
      const { name, status, message } = error as { name: string; status?: number; message: string };
      if (name !== 'ConnectionError') this.failures.push(`${status ?? name}: ${message}`);
      return null;
    }
  }
}
