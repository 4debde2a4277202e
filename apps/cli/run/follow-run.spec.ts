import * as fc from 'fast-check';
import type { RunDetail, RunEvent, RunEvents } from '../client/api';
import { Unreachable } from '../client/api';
import { Failure } from '../failure';
import { type Follower, followRun } from './follow-run';

type Status = RunDetail['status'];

/** A server whose run goes on with every request, and which fails when the plan says so. */
class PlannedServer {
  relocated = 0;
  private requests = 0;

  constructor(
    private readonly plan: {
      readonly events: number;
      readonly pages: readonly number[];
      readonly failures: readonly boolean[];
      readonly queued: number;
      readonly end: Status;
    },
  ) {}

  private next(): number {
    const { failures } = this.plan;
    const request = this.requests++;
    if (failures[request]) throw new Unreachable('no_server', 'No server answers. Start one');
    return request;
  }

  async events(_id: string, cursor: number): Promise<RunEvents> {
    const request = this.next();
    const { pages, events, queued, end } = this.plan;
    if (request < queued) return { run_id: 'r', status: 'queued', active: true, events: [], cursor };
    const to = Math.min(events, cursor + (pages[request % pages.length] ?? 1));
    const some = Array.from({ length: to - cursor }, (_, index) => this.event(cursor + index + 1));
    const over = to === events;
    return { run_id: 'r', status: over ? end : 'running', active: !over, events: some, cursor: to };
  }

  async run(): Promise<RunDetail> {
    const status = this.next() < this.plan.queued ? 'queued' : this.plan.end;
    return { id: 'r', status, queue_position: status === 'queued' ? this.requests : null } as RunDetail;
  }

  relocate(): never {
    this.relocated += 1;
    return undefined as never;
  }

  private event(cursor: number): RunEvent {
    const type = cursor === this.plan.events ? 'execution_stopped' : 'node_status';
    return { cursor, type, payload: {}, ts: '2026-01-01T00:00:00Z' };
  }
}

class Notes implements Follower {
  readonly cursors: number[] = [];
  readonly places: (number | null)[] = [];
  readonly connection: string[] = [];
  waiting = ({ queue_position }: RunDetail): void => void this.places.push(queue_position);
  event = ({ cursor }: RunEvent): void => void this.cursors.push(cursor);
  lost = (): void => void this.connection.push('lost');
  back = (): void => void this.connection.push('back');
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('followRun', () => {
  it('sees every event once and in order, however the pages fall and whenever the server is away', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          events: fc.integer({ min: 1, max: 30 }),
          pages: fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 8 }).map((pages) => [1, ...pages]),
          failures: fc.array(fc.boolean(), { maxLength: 12 }),
          queued: fc.integer({ min: 0, max: 6 }),
          end: fc.constantFrom<Status>('succeeded', 'failed', 'interrupted'),
        }),
        fc.nat({ max: 5 }),
        async (plan, seen) => {
          const from = Math.min(seen, plan.events - 1);
          const notes = new Notes();
          const server = new PlannedServer(plan);
          const run = await followRun(server, 'r', from, notes, new AbortController().signal, { pauseMs: 0 });
          expect(run.status).toBe(plan.end);
          expect(notes.cursors).toEqual(upTo(plan.events).slice(from));
          // Lost and back alternate: nobody is told twice.
          expect(notes.connection).toEqual(notes.connection.map((_, index) => (index % 2 ? 'back' : 'lost')));
          expect(notes.connection.length % 2).toBe(0);
        },
      ),
    );
  });

  it('looks again where the server is each time it is away', async () => {
    const server = new PlannedServer({
      events: 1,
      pages: [1],
      failures: [true, true, false],
      queued: 0,
      end: 'failed',
    });
    await followRun(server, 'r', 0, new Notes(), new AbortController().signal, { pauseMs: 0 });
    expect(server.relocated).toBe(2);
  });

  it.each([
    ['execution_complete', null, { status: 'succeeded', error: null }],
    ['execution_complete', { failed_nodes: ['a'], skipped_nodes: [] }, { status: 'failed' }],
    ['execution_error', { error: 'no luck' }, { status: 'failed', error: 'no luck' }],
    ['execution_stopped', { reason: 'cancelled' }, { status: 'cancelled' }],
    ['execution_stopped', { reason: 'interrupted' }, { status: 'interrupted' }],
  ])('knows from %s how a run ended that the server did not keep', async (type, payload, expected) => {
    const events = [
      { cursor: 1, type: 'execution_start', payload: {}, ts: '2026-01-01T00:00:00Z' },
      { cursor: 2, type, payload, ts: '2026-01-01T00:00:05Z' },
    ] as RunEvent[];
    const server = {
      relocate: jest.fn(),
      run: () => Promise.reject(new Failure('run_not_found', 'There is no run')),
      events: () => Promise.resolve<RunEvents>({ run_id: 'r', status: 'running', active: true, events, cursor: 2 }),
    };
    const run = await followRun(server, 'r', 0, new Notes(), new AbortController().signal);
    expect(run).toMatchObject({
      ...{ id: 'r', started_at: '2026-01-01T00:00:00Z', finished_at: '2026-01-01T00:00:05Z' },
      ...expected,
    });
  });

  it('gives up in the end, and at once when it is refused', async () => {
    const away = new PlannedServer({ events: 1, pages: [1], failures: Array(99).fill(true), queued: 0, end: 'failed' });
    const signal = new AbortController().signal;
    await expect(followRun(away, 'r', 0, new Notes(), signal, { pauseMs: 0, giveUpMs: -1 })).rejects.toThrow(
      Unreachable,
    );
    const gone = {
      ...away,
      relocate: jest.fn(),
      run: jest.fn(),
      events: () => Promise.reject(new Failure('run_not_found', 'No')),
    };
    await expect(followRun(gone, 'r', 0, new Notes(), signal)).rejects.toMatchObject({ code: 'run_not_found' });
    expect(gone.relocate).not.toHaveBeenCalled();
  });
});
