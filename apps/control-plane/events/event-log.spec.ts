import type { RunEnd, RunSinks } from '@cdui/execution';
import { MemoryDatabase } from '@cdui/execution/testing/memory-stores';
import { ending, newRun } from '@cdui/execution/testing/store-contract';
import type { Reason } from '@cdui/protocol';
import * as fc from 'fast-check';
import { times } from '../../../testing/long';
import type { ConsoleLogs } from './console-logs';
import type { RunRecorder } from './event-log';
import { StoredEventLog } from './stored-event-log';
import { TurnedClock } from './testing/turned-clock';

const MANY = 1_000_000_000;
const CAP = 2000;

class Consoles {
  text = '';
  append(_runId: string, text: string): void {
    this.text += text;
  }
}

async function make() {
  const database = new MemoryDatabase();
  const clock = new TurnedClock();
  const consoles = new Consoles();
  const log = new StoredEventLog({
    runs: database.runs,
    events: database.events,
    consoles: consoles as unknown as ConsoleLogs,
    clock,
    payloadCapBytes: CAP,
  });
  await database.runs.insert(newRun('r', 1));
  const failures: Reason[] = [];
  const open = (startedAt = clock.now()): Promise<RunRecorder> =>
    log.open({ runId: 'r', startedAt, onFailed: (reason) => failures.push(reason), onStarted: () => undefined });
  return { database, clock, consoles, log, failures, open };
}

function status(node: string, value: 'running' | 'completed' = 'running'): Parameters<RunSinks['emit']>[0] {
  return { type: 'node_status', payload: { node_id: node, status: value } };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the event log', () => {
  it('gives what is reported cursors without gaps, and stores it in order', async () => {
    const { log, open, consoles, database } = await make();
    const recorder = await open();
    recorder.recordStart();
    recorder.emit(status('a'), 0);
    recorder.recordMetrics([{ name: 'loss', value: Number.NaN, step: 1, node_id: 'a' }], 1);
    recorder.recordArtifact({ kind: 'model', path: '/m', meta: { epoch: 1 }, node_id: 'a' }, 2);
    recorder.warn({ kind: 'x', detail: 'y' }, 3);
    recorder.recordWarning({ kind: 'device_fallback', detail: 'z' });
    recorder.console('printed\n');
    recorder.emit(status('a', 'completed'), 4);
    await recorder.close();
    const { events } = await log.read('r', 0, 100, MANY);
    expect(events.map(({ cursor, type, payload }) => [cursor, type, JSON.parse(payload)])).toEqual([
      [1, 'execution_start', { run_id: 'r' }],
      [2, 'node_status', { node_id: 'a', status: 'running' }],
      [3, 'metric', { points: [{ name: 'loss', value: null, step: 1, node_id: 'a' }] }],
      [4, 'artifact', { artifact_id: 'a1', kind: 'model', path: '/m', meta: { epoch: 1 }, node_id: 'a' }],
      [5, 'run_warning', { kind: 'x', detail: 'y' }],
      [6, 'run_warning', { kind: 'device_fallback', detail: 'z' }],
      [7, 'node_status', { node_id: 'a', status: 'completed' }],
    ]);
    expect((await database.events.metrics('r', { limit: 10 })).points).toMatchObject([{ name: 'loss', value: null }]);
    expect(await database.events.artifacts('r')).toMatchObject([{ id: 'a1', kind: 'model', nodeId: 'a' }]);
    expect(consoles.text).toBe('printed\n');
    expect(log.recorded).toBe(7);
  });

  it('goes on where an earlier recording ended', async () => {
    const { log, open, clock } = await make();
    const first = await open();
    first.recordArtifact({ kind: 'model', path: '/1', meta: {}, node_id: 'a' }, 50);
    await first.close();
    log.forget('r');
    const second = await open(clock.now() - 1000);
    second.recordArtifact({ kind: 'model', path: '/2', meta: {}, node_id: 'a' }, 0);
    await second.close();
    const { events } = await log.read('r', 0, 10, MANY);
    expect(events.map(({ cursor }) => cursor)).toEqual([1, 2]);
    expect((JSON.parse(events[1]!.payload) as { artifact_id: string }).artifact_id).toBe('a2');
    expect(events[1]!.ts).toBeGreaterThanOrEqual(events[0]!.ts);
  });

  it('stamps events with the run’s start and its own time, never decreasing and never in the future', async () => {
    const { log, open, clock } = await make();
    const recorder = await open(clock.now());
    const startedAt = clock.now();
    clock.advance(100);
    recorder.emit(status('a'), 40);
    recorder.emit(status('b'), 30);
    recorder.emit(status('c'), 5000);
    clock.setBack(60);
    recorder.emit(status('d'), 5000);
    await recorder.close();
    const { events } = await log.read('r', 0, 10, MANY);
    expect(events.map(({ ts }) => ts - startedAt)).toEqual([40, 40, 100, 100]);
  });

  it('bounds a payload, and an error’s text survives', async () => {
    const { log, open } = await make();
    const recorder = await open();
    const outputs = [{ output_kind: 'text', text: 'x'.repeat(9000) }] as const;
    recorder.emit({ type: 'node_status', payload: { node_id: 'a', status: 'error', error: 'it broke', outputs } }, 0);
    await recorder.close();
    const { payload } = (await log.read('r', 0, 1, MANY)).events[0]!;
    expect(payload.length).toBeLessThanOrEqual(CAP);
    expect(JSON.parse(payload)).toMatchObject({ error: 'it broke', outputs: [{ elided: true }] });
  });

  it('shows nothing that is not stored', async () => {
    const { log, open, database, clock } = await make();
    const recorder = await open();
    database.hold();
    recorder.emit(status('a'), 0);
    clock.advance(10);
    await turn();
    expect(database.waiting).toBe(1);
    expect((await log.read('r', 0, 10, MANY)).events).toEqual([]);
    database.release();
    await turn();
    expect((await log.read('r', 0, 10, MANY)).events).toHaveLength(1);
  });

  it('commits what came meanwhile as one', async () => {
    const { open, database, clock } = await make();
    const append = jest.spyOn(database.events, 'append');
    const recorder = await open();
    for (let i = 0; i < 100; i++) recorder.emit(status(`n${i}`), i);
    clock.advance(10);
    await turn();
    for (let i = 0; i < 100; i++) recorder.emit(status(`n${i}`), i);
    await recorder.close();
    expect(append.mock.calls.map(([, batch]) => batch.events.length)).toEqual([100, 100]);
  });

  it('asks a run to wait that is far ahead of its commits, and lets it go on', async () => {
    const { open, database } = await make();
    const recorder = await open();
    database.hold();
    let reported = 0;
    while (recorder.emit(status('a'), 0)) reported += 1;
    expect(reported).toBeGreaterThan(1000);
    expect(reported).toBeLessThan(100_000);
    let drained = false;
    const waiting = recorder.drained().then(() => (drained = true));
    await turn();
    expect(drained).toBe(false);
    database.release();
    await waiting;
    expect(recorder.emit(status('a'), 0)).toBe(true);
    await recorder.close();
  });

  it('asks it to wait for few large reports as well', async () => {
    const { open, database } = await make();
    const recorder = await open();
    database.hold();
    let bytes = 0;
    while (recorder.warn({ kind: 'k', detail: 'x'.repeat(1900) }, 0)) bytes += 1900;
    expect(bytes).toBeLessThan(32 * 1024 * 1024);
    database.release();
    await recorder.close();
  });

  it('says once that nothing can be stored, drops what follows, and lets nobody wait', async () => {
    const { log, open, database, failures } = await make();
    const recorder = await open();
    recorder.emit(status('a'), 0);
    await log.flush();
    database.failing = 'no space left';
    while (recorder.emit(status('b'), 0));
    await recorder.drained();
    recorder.emit(status('c'), 0);
    await recorder.close();
    database.failing = null;
    expect(failures).toEqual([
      expect.objectContaining({ code: 'storage_failed', params: { reason: 'no space left' } }),
    ]);
    expect(await database.events.lastCursor('r')).toBe(1);
  });

  it('takes nothing after it is closed', async () => {
    const { open, database } = await make();
    const recorder = await open();
    await recorder.close();
    recorder.emit(status('late'), 0);
    recorder.recordMetrics([{ name: 'loss', value: 1, step: 1, node_id: 'a' }], 0);
    recorder.recordArtifact({ kind: 'model', path: '/m', meta: {}, node_id: 'a' }, 0);
    await recorder.close();
    expect(await database.events.lastCursor('r')).toBe(0);
  });

  it('keeps points and files in the commit of their event, however many come at once', async () => {
    const { open, database } = await make();
    const recorder = await open();
    const appended = jest.spyOn(database.events, 'append');
    for (let step = 0; step < 3000; step++) {
      recorder.recordMetrics([{ name: 'l', value: step, step, node_id: 'a' }], 0);
      recorder.recordArtifact({ kind: 'model', path: `/${step}`, meta: {}, node_id: 'a' }, 0);
    }
    await recorder.close();
    for (const [, { events, metrics, artifacts }] of appended.mock.calls) {
      expect(events.filter(({ type }) => type === 'metric')).toHaveLength(metrics!.length);
      expect(events.filter(({ type }) => type === 'artifact')).toHaveLength(artifacts!.length);
    }
    expect(await database.events.lastCursor('r')).toBe(6000);
    expect((await database.events.artifacts('r')).map(({ id }) => id).slice(-2)).toEqual(['a2999', 'a3000']);
  });

  it('splits metrics that are more than one event may hold', async () => {
    const { log, open, database } = await make();
    const recorder = await open();
    const points = Array.from({ length: 150 }, (_, step) => ({ name: 'l', value: step, step, node_id: 'a' }));
    recorder.recordMetrics(points, 0);
    await recorder.close();
    expect((await log.read('r', 0, 10, MANY)).events.map(({ type }) => type)).toEqual(['metric', 'metric', 'metric']);
    expect((await database.events.metrics('r', { limit: 1000 })).points.map(({ step }) => step)).toEqual(
      points.map(({ step }) => step),
    );
  });
});

describe('readers of the event log', () => {
  it('see the same pages from memory as from the store', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(40), { minLength: 1, maxLength: 40 }),
        fc.array(fc.tuple(fc.nat(45), fc.nat(6), fc.nat(300)), { minLength: 1, maxLength: 20 }),
        async (sizes, reads) => {
          const { log, open, database } = await make();
          const recorder = await open();
          for (const size of sizes) recorder.warn({ kind: 'k', detail: 'x'.repeat(size) }, 0);
          await recorder.close();
          const stored = jest.spyOn(database.events, 'read');
          const fromMemory = [];
          for (const [after, limit, cap] of reads) fromMemory.push(await log.read('r', after, limit, cap));
          expect(stored).not.toHaveBeenCalled();
          for (const [index, [after, limit, cap]] of reads.entries()) {
            expect(fromMemory[index]).toEqual(await database.events.read('r', after, limit, cap));
          }
        },
      ),
      { numRuns: times(50, 1000) },
    );
  });

  it('read from the store what is too old for the memory', async () => {
    const { log, open, database } = await make();
    const recorder = await open();
    for (let i = 0; i < 40_000; i++) {
      if (!recorder.emit(status(`n${i}`), 0)) await recorder.drained();
    }
    await recorder.close();
    const stored = jest.spyOn(database.events, 'read');
    expect((await log.read('r', 0, 2, MANY)).events.map(({ cursor }) => cursor)).toEqual([1, 2]);
    expect(stored).toHaveBeenCalledTimes(1);
    expect((await log.read('r', 39_990, 100, MANY)).events).toHaveLength(10);
    expect(stored).toHaveBeenCalledTimes(1);
    // A crowd that lags behind reads what it needs once.
    await Promise.all(Array.from({ length: 100 }, () => log.read('r', 100, 200, MANY)));
    expect(stored).toHaveBeenCalledTimes(2);
  });

  it('see all that was committed when they asked, whatever others are reading', async () => {
    const { log, database } = await make();
    const early = log.read('r', 0, 10, MANY);
    const cursor = await database.runs.end('r', ['queued'], ending(), 1);
    const late = log.read('r', 0, 10, MANY);
    expect([(await early).events.length, (await late).cursor]).toEqual([0, cursor]);
  });

  it('wake up when an event is committed, and not before', async () => {
    const { log, open, clock } = await make();
    const recorder = await open();
    let woken = 0;
    for (let i = 0; i < 3; i++) void log.wait('r', 0, 60_000).then(() => (woken += 1));
    await turn();
    expect(woken).toBe(0);
    recorder.emit(status('a'), 0);
    await log.flush();
    clock.advance(1);
    await turn();
    expect(woken).toBe(3);
  });

  it('do not wait when there is something, when the run has ended, or when they gave up', async () => {
    const { log, open, database } = await make();
    const recorder = await open();
    recorder.emit(status('a'), 0);
    await recorder.close();
    await log.wait('r', 0, 60_000);
    await log.wait('r', 1, 60_000, AbortSignal.abort());
    const cursor = await database.runs.end('r', ['queued'], ending(), 1);
    log.publishEnd('r', cursor!, ending().event, 1);
    await log.wait('r', 2, 60_000);
    await log.wait('nobody', 0, 60_000);
    expect(await log.read('r', 1, 10, MANY)).toMatchObject({ events: [{ cursor: 2, type: 'execution_complete' }] });
  });

  it('wait for a run that is still queued, until it starts, ends, or the time is over', async () => {
    const { log, open, database, clock } = await make();
    let over = 0;
    void log.wait('r', 0, 1000).then(() => (over += 1));
    await turn();
    clock.advance(999);
    await turn();
    expect(over).toBe(0);
    clock.advance(1);
    await turn();
    expect(over).toBe(1);
    void log.wait('r', 0, 1000).then(() => (over += 1));
    await turn();
    const recorder = await open();
    recorder.recordStart();
    await recorder.close();
    clock.advance(1);
    await turn();
    expect(over).toBe(2);
    void log.wait('r', 1, 1000).then(() => (over += 1));
    const end: RunEnd = ending();
    log.publishEnd('r', (await database.runs.end('r', ['queued'], end, 1))!, end.event, 1);
    await turn();
    expect(over).toBe(3);
  });

  it('end with their signal, and leave nothing behind', async () => {
    const { log, clock } = await make();
    const controller = new AbortController();
    const waiting = log.wait('r', 0, 60_000, controller.signal);
    await turn();
    expect(clock.waiting).toBe(1);
    controller.abort();
    await waiting;
    expect(clock.waiting).toBe(0);
  });

  it('are woken up less often the more they are, each of them', async () => {
    const { log, open, clock } = await make();
    const recorder = await open();
    let woken = 0;
    const follow = async (): Promise<void> => {
      let after = 0;
      while (after < 200) {
        await log.wait('r', after, 60_000);
        woken += 1;
        after = (await log.read('r', after, 1000, MANY)).cursor;
      }
    };
    const followers = Array.from({ length: 1000 }, follow);
    for (let i = 0; i < 200; i++) {
      recorder.emit(status('a'), 0);
      await log.flush();
      clock.advance(5);
      await turn();
    }
    for (let i = 0; i < 200; i++) {
      clock.advance(5);
      await turn();
    }
    await Promise.all(followers);
    // A second of events: at once, then four times.
    expect(woken).toBeLessThanOrEqual(6000);
  });
});
