import type { ActiveStatus } from '@cdui/protocol';
import * as fc from 'fast-check';
import { times } from '../../../testing/long';
import type { RunEnd } from '../lifecycle';
import type { EventStore, RunStore, StoredArtifact, StoredMetric } from '../stores';
import { MemoryDatabase } from './memory-stores';
import { ending, newRun, storedEvent } from './samples';

/** A pair of stores on one database, as a test gets them. */
export interface OpenStores {
  readonly runs: RunStore;
  readonly events: EventStore;
  /** The same database as a program finds it that starts after this one ended without a word. What was acknowledged is there. */
  restart(): Promise<OpenStores>;
  close(): Promise<void>;
}

export { ending, newRun, storedEvent };

function points(...values: readonly [name: string, step: number, value: number | null][]): StoredMetric[] {
  return values.map(([name, step, value]) => ({ node_id: 'train', name, step, value, ts: 1000 + step }));
}

function artifact(id: string, kind: string): StoredArtifact {
  const meta = { epoch: 1, note: 'ü"' };
  return { id, kind, path: `/tmp/${id}`, meta, nodeId: 'save', backend: 'local', mountLabel: null, createdAt: 7 };
}

const PLACED = { at: 5, workerId: null, devices: ['cpu'] };
const MANY = 1_000_000_000;

/** What `RunStore` and `EventStore` promise, for every pair of them. */
export function describeStores(name: string, open: () => Promise<OpenStores>): void {
  describe(name, () => {
    let stores: OpenStores;
    let runs: RunStore;
    let events: EventStore;
    const use = (opened: OpenStores): void => {
      stores = opened;
      ({ runs, events } = opened);
    };
    beforeEach(async () => use(await open()));
    afterEach(() => stores.close());

    describe('rows', () => {
      it('give back what was accepted', async () => {
        const run = newRun('a', 3, {
          name: 'Ünïcode "quoted" \u0000 \ud83d\ude00',
          options: { device: 'cuda:0', deep: { list: [1, 'two', null, true] } },
          gitCommit: 'abc',
          gitDirty: false,
          pluginPins: { plugin: '1.0' },
          sweepId: 's',
          sweepVariant: 2,
          retryOf: 'z',
          hadSecrets: true,
        });
        await runs.insert(run);
        const { graph, ...row } = run;
        expect(await runs.get('a')).toEqual({
          ...row,
          recordedSeq: 0,
          status: 'queued',
          error: null,
          startedAt: null,
          finishedAt: null,
          workerId: null,
          devices: null,
          facts: null,
          fingerprintDigest: null,
        });
        expect(await runs.graph('a')).toBe(graph);
        expect([await runs.get('b'), await runs.graph('b')]).toEqual([null, null]);
      });

      it('refuse a second run of the same id, and keep the first', async () => {
        await runs.insert(newRun('a', 1));
        await expect(runs.insert(newRun('a', 2, { name: 'other' }))).rejects.toMatchObject({ code: 'storage_failed' });
        expect(await runs.get('a')).toMatchObject({ name: 'run a', queueSeq: 1 });
      });

      it('start once, and return to the queue as if they had not', async () => {
        await runs.insert(newRun('a', 1));
        const before = await runs.get('a');
        expect(await runs.start('a', { at: 9, workerId: 'w', devices: ['cuda:0', 'cuda:1'] })).toBe(true);
        expect(await runs.get('a')).toMatchObject({
          status: 'running',
          startedAt: 9,
          workerId: 'w',
          devices: ['cuda:0', 'cuda:1'],
        });
        expect(await runs.start('a', PLACED)).toBe(false);
        expect(await runs.requeue('a')).toBe(true);
        expect(await runs.requeue('a')).toBe(false);
        expect(await runs.get('a')).toEqual(before);
      });

      it('are marked as connected or not only between their start and their end', async () => {
        await runs.insert(newRun('a', 1));
        expect(await runs.mark('a', 'disconnected')).toBe(false);
        await runs.start('a', PLACED);
        expect(await runs.mark('a', 'disconnected')).toBe(true);
        expect(await runs.mark('a', 'disconnected')).toBe(true);
        expect(await runs.get('a')).toMatchObject({ status: 'disconnected' });
        expect(await runs.mark('a', 'running')).toBe(true);
        expect(await runs.mark('b', 'disconnected')).toBe(false);
      });

      it('count the frames of each attempt anew, and keep what is known of where they run', async () => {
        await runs.insert(newRun('a', 1));
        await runs.addFacts('a', { kept: 1 });
        await runs.start('a', { ...PLACED, workerId: 'w', facts: { worker_resume: { attempt: 1 } } });
        await events.append('a', { events: [], recordedSeq: 7 });
        expect(await runs.get('a')).toMatchObject({
          recordedSeq: 7,
          facts: { kept: 1, worker_resume: { attempt: 1 } },
        });
        await runs.requeue('a');
        await runs.start('a', { ...PLACED, workerId: 'w', facts: { worker_resume: { attempt: 2 } } });
        expect(await runs.get('a')).toMatchObject({
          recordedSeq: 0,
          facts: { kept: 1, worker_resume: { attempt: 2 } },
        });
        const event = { type: 'execution_complete', payload: null } as const;
        await runs.end('a', ['running'], { status: 'succeeded', error: null, reason: null, event }, 2000, 3);
        expect(await runs.get('a')).toMatchObject({ status: 'succeeded', recordedSeq: 3 });
      });

      it('end once, with the last event in the same commit', async () => {
        await runs.insert(newRun('a', 1));
        await runs.start('a', PLACED);
        await events.append('a', { events: [storedEvent(1), storedEvent(2)] });
        const reason = { code: 'executor_failed', params: { why: ['x'] } };
        const event = { type: 'execution_error', payload: { error: 'no', code: 'executor_failed' } } as const;
        const end: RunEnd = { status: 'failed', error: 'no', reason, event };
        expect(await runs.end('a', ['queued'], end, 2000)).toBeNull();
        expect(await runs.end('a', ['queued', 'running'], end, 2000)).toBe(3);
        expect(await runs.end('a', ['queued', 'running'], ending(), 3000)).toBeNull();
        expect(await runs.get('a')).toMatchObject({
          status: 'failed',
          error: 'no',
          finishedAt: 2000,
          facts: { error_reason: reason },
        });
        expect((await events.read('a', 2, 10, MANY)).events).toEqual([
          { cursor: 3, type: 'execution_error', payload: JSON.stringify(event.payload), ts: 2000 },
        ]);
        expect(await runs.end('b', ['running'], ending(), 1)).toBeNull();
      });

      it('never let the last event be older than the one before it', async () => {
        await runs.insert(newRun('a', 1));
        await events.append('a', { events: [{ ...storedEvent(1), ts: 500 }] });
        await runs.end('a', ['queued'], ending(), 400);
        expect((await events.read('a', 1, 10, MANY)).events).toMatchObject([{ cursor: 2, payload: 'null', ts: 500 }]);
      });

      it('gather facts, and share fingerprints', async () => {
        await runs.insert(newRun('a', 1));
        await runs.addFacts('a', { visible_devices: ['0'], peak_memory: null });
        await runs.addFacts(
          'a',
          { peak_memory: [{ device: 'cpu', bytes: 1, exact: true }] },
          { digest: 'd', document: '{}' },
        );
        await runs.addFacts('a', { extra: 1 }, { digest: 'd', document: '{}' });
        await runs.addFacts('b', { nobody: true });
        expect(await runs.get('a')).toMatchObject({
          facts: { visible_devices: ['0'], peak_memory: [{ device: 'cpu', bytes: 1, exact: true }], extra: 1 },
          fingerprintDigest: 'd',
        });
      });

      it('keep a record of each node, the last one, and none of runs that are not there', async () => {
        await runs.insert(newRun('a', 1));
        await runs.addProvenance('a', [
          { node_id: 'y', type: 'One', file: null },
          { node_id: 'x', type: 'Two', more: { deep: [1] } },
        ]);
        await runs.addProvenance('a', [{ node_id: 'y', type: 'Three' }]);
        await runs.addProvenance('b', [{ node_id: 'y', type: 'One' }]);
        expect(await runs.provenance('a')).toEqual([
          { node_id: 'x', type: 'Two', more: { deep: [1] } },
          { node_id: 'y', type: 'Three' },
        ]);
        expect(await runs.provenance('b')).toEqual([]);
      });

      it('are deleted only when they have ended, with all that is stored about them', async () => {
        await runs.insert(newRun('a', 1));
        expect(await runs.delete('a')).toBe(false);
        await runs.start('a', PLACED);
        await events.append('a', {
          events: [storedEvent(1)],
          metrics: points(['loss', 1, 1]),
          artifacts: [artifact('x', 'model')],
        });
        expect(await runs.delete('a')).toBe(false);
        await runs.end('a', ['running'], ending(), 10);
        expect(await runs.delete('a')).toBe(true);
        expect(await runs.delete('a')).toBe(false);
        expect(await runs.get('a')).toBeNull();
        expect(await events.lastCursor('a')).toBe(0);
        expect((await events.read('a', 0, 10, MANY)).events).toEqual([]);
        expect(await events.metricNames('a')).toEqual([]);
        expect((await events.metrics('a', { limit: 10 })).points).toEqual([]);
        expect((await events.finalMetrics(['a'])).get('a')).toEqual([]);
        expect(await events.artifacts('a')).toEqual([]);
      });

      it('remember the highest place in the queue, also of deleted runs', async () => {
        expect(await runs.lastQueueSeq()).toBe(0);
        await runs.insert(newRun('a', 7));
        await runs.insert(newRun('b', 3));
        await runs.end('a', ['queued'], ending(), 1);
        await runs.delete('a');
        expect(await runs.lastQueueSeq()).toBe(7);
        use(await stores.restart());
        expect(await runs.lastQueueSeq()).toBe(7);
      });
    });

    describe('lists', () => {
      beforeEach(async () => {
        await Promise.all([
          runs.insert(newRun('a1', 1, { name: 'MNIST first' })),
          runs.insert(newRun('b2', 2, { name: 'transformer', sweepId: 's' })),
          runs.insert(newRun('c3', 3, { name: 'mnist again', sweepId: 's' })),
          runs.insert(newRun('d4', 4, { name: '50% done_', createdAt: 1 })),
        ]);
        await runs.start('a1', { at: 50, workerId: 'w', devices: ['cpu'] });
        await runs.end('a1', ['running'], ending(), 60);
        await runs.start('b2', PLACED);
        await runs.end('c3', ['queued'], ending('cancelled'), 55);
      });
      const ids = async (filter: Partial<Parameters<RunStore['list']>[0]>): Promise<string> => {
        const { rows, total } = await runs.list({ limit: 10, offset: 0, ...filter });
        return `${rows.map(({ id }) => id).join(' ')} of ${total}`;
      };

      it('show the newest first, page by page', async () => {
        expect(await ids({})).toBe('c3 b2 a1 d4 of 4');
        expect(await ids({ limit: 2, offset: 1 })).toBe('b2 a1 of 4');
        expect(await ids({ limit: 2, offset: 9 })).toBe(' of 4');
        expect(await ids({ limit: 0 })).toBe(' of 4');
      });

      it('filter by status, text, worker and sweep', async () => {
        expect(await ids({ status: ['queued', 'running'] })).toBe('b2 d4 of 2');
        expect(await ids({ status: [] })).toBe(' of 0');
        expect(await ids({ q: 'mNIST' })).toBe('c3 a1 of 2');
        expect(await ids({ q: 'B2' })).toBe('b2 of 1');
        expect(await ids({ q: '%' })).toBe('d4 of 1');
        expect(await ids({ q: 'done_' })).toBe('d4 of 1');
        expect(await ids({ workerId: 'w' })).toBe('a1 of 1');
        expect(await ids({ sweepId: 's', status: ['cancelled'] })).toBe('c3 of 1');
      });

      it('sort by each column in both directions', async () => {
        expect(await ids({ sort: 'created_at', order: 'asc' })).toBe('d4 a1 b2 c3 of 4');
        expect(await ids({ sort: 'started_at', order: 'desc' })).toBe('a1 b2 d4 c3 of 4');
        expect(await ids({ sort: 'finished_at', order: 'desc' })).toBe('a1 c3 d4 b2 of 4');
        expect(await ids({ sort: 'name', order: 'asc' })).toBe('d4 a1 c3 b2 of 4');
        expect(await ids({ sort: 'status', order: 'asc' })).toBe('c3 d4 b2 a1 of 4');
      });

      it('name the active runs in the order of submission, and count by status', async () => {
        expect((await runs.active()).map(({ id }) => id)).toEqual(['b2', 'd4']);
        expect(await runs.countByStatus()).toEqual({ succeeded: 1, running: 1, cancelled: 1, queued: 1 });
      });

      it('name the ended runs beyond those that are kept, the oldest first', async () => {
        await runs.end('d4', ['queued'], ending('failed'), 70);
        expect(await runs.surplus(3, 10, 99)).toEqual([]);
        expect(await runs.surplus(9, 10, 99)).toEqual([]);
        expect(await runs.surplus(1, 10, 99)).toEqual(['c3', 'a1']);
        expect(await runs.surplus(0, 2, 99)).toEqual(['c3', 'a1']);
        expect(await runs.surplus(0, 10, 70)).toEqual(['c3', 'a1', 'd4']);
        expect(await runs.surplus(0, 10, 69)).toEqual(['c3', 'a1']);
      });
    });

    describe('logs', () => {
      beforeEach(() => runs.insert(newRun('a', 1)));

      it('are empty at first', async () => {
        expect(await events.lastCursor('a')).toBe(0);
        expect(await events.read('a', 0, 10, MANY)).toEqual({ events: [], cursor: 0 });
        expect(await events.read('nobody', 4, 10, MANY)).toEqual({ events: [], cursor: 4 });
      });

      it('give events back as they were, after a cursor', async () => {
        const payload = JSON.stringify({ text: 'ü \u0000 \ud83d\ude00 "quoted" \\ \u2028', number: 0.1, no: null });
        const all = [storedEvent(1), { cursor: 2, type: 'odd "type"', payload, ts: 1_764_500_000_001 }, storedEvent(3)];
        await events.append('a', { events: all });
        expect(await events.read('a', 0, 10, MANY)).toEqual({ events: all, cursor: 3 });
        expect(await events.read('a', 2, 10, MANY)).toEqual({ events: [all[2]], cursor: 3 });
        expect(await events.read('a', 3, 10, MANY)).toEqual({ events: [], cursor: 3 });
        expect(await events.lastCursor('a')).toBe(3);
      });

      it('are read in pages of at most so many events and about so many bytes, and at least one event', async () => {
        const size = storedEvent(1).payload.length;
        await events.append('a', { events: [1, 2, 3, 4, 5].map((cursor) => storedEvent(cursor)) });
        const page = async (after: number, limit: number, cap: number): Promise<number[]> =>
          (await events.read('a', after, limit, cap)).events.map(({ cursor }) => cursor);
        expect(await page(0, 2, MANY)).toEqual([1, 2]);
        expect(await page(0, 10, 2 * size)).toEqual([1, 2]);
        expect(await page(0, 10, 2 * size + 1)).toEqual([1, 2, 3]);
        expect(await page(3, 10, 0)).toEqual([4]);
        expect(await page(0, 0, MANY)).toEqual([]);
      });

      it('take a batch whole or not at all', async () => {
        await events.append('a', { events: [storedEvent(1)] });
        await expect(
          events.append('a', {
            events: [storedEvent(2), storedEvent(1)],
            metrics: points(['loss', 1, 1]),
            artifacts: [artifact('x', 'model')],
          }),
        ).rejects.toMatchObject({ code: 'storage_failed' });
        expect(await events.lastCursor('a')).toBe(1);
        expect(await events.metricNames('a')).toEqual([]);
        expect(await events.artifacts('a')).toEqual([]);
        await events.append('a', { events: [storedEvent(2)] });
        expect(await events.lastCursor('a')).toBe(2);
      });

      it('take nothing about a run that is not there', async () => {
        await expect(events.append('nobody', { events: [storedEvent(1)] })).rejects.toMatchObject({
          code: 'run_not_found',
        });
        await expect(events.append('nobody', { events: [], metrics: points(['x', 1, 1]) })).rejects.toMatchObject({
          code: 'run_not_found',
        });
        expect(await events.lastCursor('nobody')).toBe(0);
      });

      it('keep metrics in the order of recording, all or by name, in pages', async () => {
        const first = points(['loss', 1, 0.1], ['accuracy', 1, 5e-324], ['loss', 2, null]);
        const second = points(['loss', 3, 1.7976931348623157e308], ['odd "name"', 1, -0.30000000000000004]);
        await events.append('a', { events: [storedEvent(1)], metrics: first });
        await events.append('a', { events: [storedEvent(2)], metrics: second });
        expect(await events.metrics('a', { limit: 10 })).toEqual({ points: [...first, ...second], next: null });
        const page = await events.metrics('a', { limit: 3 });
        expect(page.points).toEqual(first);
        expect(await events.metrics('a', { limit: 3, after: page.next! })).toEqual({ points: second, next: null });
        expect((await events.metrics('a', { name: 'loss', limit: 2 })).points).toEqual([first[0], first[2]]);
        expect(await events.metricNames('a')).toEqual(['loss', 'accuracy', 'odd "name"']);
      });

      it('know the last value of every metric', async () => {
        await runs.insert(newRun('b', 2));
        await events.append('a', {
          events: [storedEvent(1)],
          metrics: points(['loss', 1, 3], ['lr', 1, 0.5], ['loss', 2, 2]),
        });
        await events.append('a', { events: [storedEvent(2)], metrics: points(['loss', 3, null]) });
        const last = await events.finalMetrics(['b', 'a', 'nobody']);
        expect(last.get('a')).toEqual([
          { node_id: 'train', name: 'loss', step: 3, value: null },
          { node_id: 'train', name: 'lr', step: 1, value: 0.5 },
        ]);
        expect([last.get('b'), last.get('nobody')]).toEqual([[], []]);
      });

      it('list artifacts in order, all or of a kind', async () => {
        await events.append('a', {
          events: [storedEvent(1)],
          artifacts: [artifact('2', 'model'), artifact('1', 'plot')],
        });
        await events.append('a', { events: [storedEvent(2)], artifacts: [artifact('3', 'model')] });
        expect((await events.artifacts('a')).map(({ id }) => id)).toEqual(['2', '1', '3']);
        expect(await events.artifacts('a', 'model')).toEqual([artifact('2', 'model'), artifact('3', 'model')]);
      });

      it('return numbers exactly', async () => {
        await fc.assert(
          fc.asyncProperty(fc.double({ noNaN: true, noDefaultInfinity: true }), async (value) => {
            const { points: before } = await events.metrics('a', { limit: MANY });
            await events.append('a', { events: [], metrics: points(['x', before.length, value]) });
            const { points: after } = await events.metrics('a', { limit: 1, after: before.length });
            // JSON knows no negative zero.
            expect(after[0]!.value).toBe(value === 0 ? 0 : value);
          }),
          { numRuns: times(50, 1000) },
        );
      });
    });

    it('keeps what was acknowledged when the program ends without a word', async () => {
      await runs.insert(newRun('a', 1));
      await runs.start('a', PLACED);
      await events.append('a', { events: [storedEvent(1)], metrics: points(['loss', 1, 1]), recordedSeq: 4 });
      const row = await runs.get('a');
      use(await stores.restart());
      expect(await runs.get('a')).toEqual(row);
      expect(await events.lastCursor('a')).toBe(1);
      expect(await events.metricNames('a')).toEqual(['loss']);
    });

    it('lets writes take effect in the order of their calls, whatever they are', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step(), { maxLength: 40 }),
          fc.integer({ min: 1, max: 6 }),
          async (steps, together) => {
            const fresh = await open();
            const model = new MemoryDatabase();
            try {
              for (let i = 0; i < steps.length; i += together) {
                const group = steps.slice(i, i + together);
                const answers = await Promise.all(group.map((take) => settled(take(fresh))));
                const expected = await Promise.all(group.map((take) => settled(take(model))));
                expect(answers).toEqual(expected);
              }
              expect(await everything(fresh)).toEqual(await everything(model));
            } finally {
              await fresh.close();
            }
          },
        ),
        { numRuns: times(15, 300) },
      );
    });
  });
}

type Stores = Pick<OpenStores, 'runs' | 'events'>;
type Take = (stores: Stores) => Promise<unknown>;
const IDS = ['a', 'b', 'c'] as const;

/** One call with chosen arguments, good or bad. */
function step(): fc.Arbitrary<Take> {
  const id = fc.constantFrom(...IDS);
  const from = fc.subarray<ActiveStatus>(['queued', 'running', 'disconnected']);
  const call = <T>(arguments_: fc.Arbitrary<T>, take: (stores: Stores, value: T) => Promise<unknown>) =>
    arguments_.map(
      (value): Take =>
        (stores) =>
          take(stores, value),
    );
  return fc.oneof(
    call(fc.tuple(id, fc.nat(9)), ({ runs }, [run, seq]) => runs.insert(newRun(run, seq))),
    call(id, ({ runs }, run) => runs.start(run, PLACED)),
    call(id, ({ runs }, run) => runs.requeue(run)),
    call(id, ({ runs }, run) => runs.mark(run, 'disconnected')),
    call(id, ({ runs }, run) => runs.mark(run, 'running')),
    call(fc.tuple(id, from, fc.nat(99)), ({ runs }, [run, statuses, at]) => runs.end(run, statuses, ending(), at)),
    call(fc.tuple(id, fc.nat(3)), ({ runs }, [run, fact]) => runs.addFacts(run, { [`fact${fact}`]: fact })),
    { weight: 4, arbitrary: call(fc.tuple(id, fc.integer({ min: 1, max: 12 })), appendTwo) },
  );
}

function appendTwo({ events }: Stores, [run, cursor]: readonly [string, number]): Promise<unknown> {
  return events.append(run, {
    events: [storedEvent(cursor), storedEvent(cursor + 1)],
    metrics: points([`m${cursor % 3}`, cursor, cursor]),
  });
}

async function settled(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => value ?? null,
    (error: { code?: string }) => `failed: ${error.code}`,
  );
}

async function everything({ runs, events }: Stores): Promise<unknown> {
  const logs = IDS.map(async (id) => [
    await runs.get(id),
    (await events.read(id, 0, 1000, MANY)).events.map(({ cursor, payload }) => [cursor, payload]).sort(byCursor),
    (await events.metrics(id, { limit: 1000 })).points,
    (await events.finalMetrics([id])).get(id),
  ]);
  return [await Promise.all(logs), await runs.countByStatus(), await runs.lastQueueSeq()];
}

function byCursor(a: readonly unknown[], b: readonly unknown[]): number {
  return Number(a[0]) - Number(b[0]);
}
