import fc from 'fast-check';
import type { Placed, WaitingRun } from './scheduler-state';
import { LOCAL, SchedulerState } from './scheduler-state';
import { SlotLimits } from './slot-limits';
import { SlowScheduler } from './testing/slow-scheduler';

const DEVICES = ['cpu', 'cuda:0', 'cuda:1', 'cuda:2'];

function scheduler(devices: readonly string[] = DEVICES): SchedulerState {
  const state = new SchedulerState();
  state.workerChanged({ id: LOCAL, online: true, devices });
  return state;
}

let sequence = 0;
function run(id: string, devices: readonly string[] = ['cpu'], queueSeq = sequence++): WaitingRun {
  return { id, worker: LOCAL, devices, queueKey: devices.join('+'), queueSeq };
}

function placedIds(state: SchedulerState): string[] {
  const ids: string[] = [];
  for (let placed = state.next(); placed; placed = state.next()) ids.push(placed.run.id);
  return ids;
}

describe('SchedulerState', () => {
  it('starts what there is room for, in order, and the next one when a slot is freed', () => {
    const state = scheduler();
    for (const id of ['a', 'b', 'c']) state.submit(run(id));
    expect(placedIds(state)).toEqual(['a', 'b']);
    expect(state.position('c')).toBe(1);
    expect(state.release('a')).toBe(true);
    expect(placedIds(state)).toEqual(['c']);
  });

  it('frees a run’s slots once, however often it is released', () => {
    const state = scheduler();
    for (const id of ['a', 'b', 'c', 'd', 'e']) state.submit(run(id));
    expect(placedIds(state)).toEqual(['a', 'b']);
    expect([state.release('a'), state.release('a')]).toEqual([true, false]);
    expect(placedIds(state)).toEqual(['c']);
  });

  it('offers the next run when the front of a queue is taken out', () => {
    const state = scheduler();
    for (const id of ['a', 'b', 'c', 'd']) state.submit(run(id, ['cuda:0']));
    expect(placedIds(state)).toEqual(['a']);
    expect(state.remove('b')).toBe(true);
    state.release('a');
    expect(placedIds(state)).toEqual(['c']);
  });

  it('serves the oldest front first when queues share a slot', () => {
    const state = scheduler();
    state.submit({ ...run('busy', ['cuda:0']) });
    expect(placedIds(state)).toEqual(['busy']);
    state.submit({ ...run('younger', ['cuda:0'], 1_000), queueKey: 'any/cuda' });
    state.submit({ ...run('older', ['cuda:0'], 999), queueKey: 'cuda:0' });
    state.release('busy');
    expect(placedIds(state)).toEqual(['older']);
  });

  it('gives a run that comes back its old place', () => {
    const state = scheduler();
    const first = run('first', ['cuda:0']);
    state.submit(first);
    expect(placedIds(state)).toEqual(['first']);
    state.submit(run('second', ['cuda:0']));
    state.release('first');
    state.submit(first);
    expect([state.position('first'), state.position('second')]).toEqual([1, 2]);
    expect(placedIds(state)).toEqual(['first']);
  });

  it('lets a device set wait for all of its devices while traffic on one of them goes by', () => {
    const state = scheduler();
    state.submit(run('a', ['cuda:0']));
    expect(placedIds(state)).toEqual(['a']);
    state.submit(run('set', ['cuda:0', 'cuda:1']));
    state.submit(run('b', ['cuda:1']));
    expect(placedIds(state)).toEqual([]);
    state.release('a');
    expect(placedIds(state)).toEqual(['set']);
    state.release('set');
    expect(placedIds(state)).toEqual(['b']);
  });

  it('lets a run that must be alone wait for what runs, and nobody past it', () => {
    const state = scheduler();
    state.submit(run('a'));
    expect(placedIds(state)).toEqual(['a']);
    state.submit({ ...run('alone'), alone: true });
    state.submit(run('b'));
    state.submit(run('c', ['cuda:0']));
    expect(placedIds(state)).toEqual([]);
    expect(state.reason('alone')).toEqual({
      code: 'seeded_run',
      params: {},
      message: 'waiting until nothing else of the queue runs there: a run with a seed runs alone',
    });
    expect(state.reason('c')).toEqual({
      code: 'seeded_run',
      params: { run_id: 'alone' },
      message: 'waiting for run alone, which has a seed and runs alone',
    });
    // It is not its turn.
    expect(state.reason('b')).toBeNull();
    state.release('a');
    expect(placedIds(state)).toEqual(['alone']);
    for (const id of ['b', 'c']) expect(state.reason(id)?.params).toEqual({ run_id: 'alone' });
    state.release('alone');
    expect(placedIds(state)).toEqual(['b', 'c']);
  });

  it('opens the gate when the run that waits for it is taken out', () => {
    const state = scheduler();
    state.submit(run('a'));
    expect(placedIds(state)).toEqual(['a']);
    state.submit({ ...run('alone', ['cuda:1']), alone: true });
    state.submit(run('b'));
    expect(placedIds(state)).toEqual([]);
    state.remove('alone');
    expect(placedIds(state)).toEqual(['b']);
  });

  it('says why a run waits when it is more than a busy slot', () => {
    const state = scheduler(['cpu']);
    for (const id of ['a', 'b', 'c']) state.submit(run(id));
    state.submit(run('g', ['cuda:0']));
    expect(placedIds(state)).toEqual(['a', 'b']);
    expect(state.reason('c')).toBeNull();
    expect(state.reason('g')).toEqual({
      code: 'no_worker_offers',
      params: { devices: ['cuda:0'] },
      message: 'waiting for a worker that offers cuda:0',
    });
    state.drain(LOCAL, true);
    state.release('a');
    expect(placedIds(state)).toEqual([]);
    expect(state.reason('c')).toMatchObject({ code: 'server_draining' });
    state.drain(LOCAL, false);
    expect(placedIds(state)).toEqual(['c']);
  });

  it('tells positions up to 1,000', () => {
    const state = scheduler();
    state.drain(LOCAL, true);
    for (let index = 1; index <= 1_002; index++) state.submit(run(`r${index}`));
    expect([state.position('r1'), state.position('r1000'), state.position('r1001')]).toEqual([1, 1000, null]);
    state.remove('r1');
    expect(state.position('r1001')).toBe(1000);
    expect(state.depths()).toEqual(new Map([['cpu', 1_001]]));
  });

  const devicesArbitrary = fc.oneof(
    fc.constantFrom(...DEVICES).map((device) => [device]),
    fc.uniqueArray(fc.constantFrom('cuda:0', 'cuda:1', 'cuda:2'), { minLength: 2, maxLength: 3 }),
  );
  const stepArbitrary = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('submit' as const),
        devices: devicesArbitrary,
        away: fc.nat(9),
        alone: fc.nat(4),
      }),
    },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('next' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('release' as const), pick: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('return' as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('drain' as const), on: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('devices' as const),
        devices: fc.subarray(DEVICES),
        online: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('limits' as const),
        gpu: fc.integer({ min: 0, max: 2 }),
        cpu: fc.integer({ min: 0, max: 3 }),
      }),
    },
  );

  it('does what the rules say, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(fc.array(stepArbitrary, { maxLength: 80 }), (steps) => {
        const limits = new SlotLimits();
        const state = scheduler();
        state.limits(limits);
        const slow = new SlowScheduler(limits);
        slow.workers.set(LOCAL, { id: LOCAL, online: true, devices: DEVICES });
        let seq = 0;
        const checkRoom = (placed: Placed): void => {
          for (const slot of placed.slots) {
            const used = slow.used(slot.worker, slot.device);
            expect(used).toBeLessThanOrEqual(slow.limits.of(slot));
            const sets = slow
              .inOrder()
              .filter(
                (other) =>
                  other.queueSeq < placed.run.queueSeq &&
                  slow.isFront(other) &&
                  slow.canGo(other) &&
                  other.devices.length > 1 &&
                  other.devices.includes(slot.device),
              );
            // An older set that waits for this device still finds room for itself once the runs before it are gone.
            if (sets.length > 0) expect(used).toBeLessThan(slow.limits.of(slot));
          }
        };
        for (const step of steps) {
          switch (step.do) {
            case 'submit': {
              const worker = step.away === 0 ? 'gpu-box' : LOCAL;
              const submitted = {
                id: `r${seq}`,
                worker,
                devices: step.devices,
                queueKey: `${worker}/${step.devices.join('+')}`,
                queueSeq: seq++,
                ...(step.alone === 0 && { alone: true }),
              };
              state.submit(submitted);
              slow.waiting.push(submitted);
              break;
            }
            case 'next': {
              const placed = state.next();
              expect(placed).toEqual(slow.next());
              if (placed) checkRoom(placed);
              break;
            }
            case 'release': {
              const placed = slow.held[step.pick % Math.max(1, slow.held.length)];
              expect(state.release(placed?.run.id ?? 'nobody')).toBe(placed !== undefined);
              slow.held = slow.held.filter((other) => other !== placed);
              break;
            }
            case 'remove': {
              const waiting = slow.waiting[step.pick % Math.max(1, slow.waiting.length)];
              expect(state.remove(waiting?.id ?? 'nobody')).toBe(waiting !== undefined);
              slow.waiting = slow.waiting.filter((other) => other !== waiting);
              break;
            }
            case 'return': {
              const placed = slow.held[step.pick % Math.max(1, slow.held.length)];
              if (!placed) break;
              state.release(placed.run.id);
              state.submit(placed.run);
              slow.held = slow.held.filter((other) => other !== placed);
              slow.waiting.push(placed.run);
              break;
            }
            case 'drain':
              state.drain(LOCAL, step.on);
              slow.draining.clear();
              if (step.on) slow.draining.add(LOCAL);
              break;
            case 'devices': {
              const worker = { id: LOCAL, online: step.online, devices: step.devices };
              state.workerChanged(worker);
              slow.workers.set(LOCAL, worker);
              break;
            }
            case 'limits':
              slow.limits = new SlotLimits({ gpu: step.gpu, cpu: step.cpu, overrides: 'cuda:2=2' });
              state.limits(slow.limits);
              break;
          }
          for (const { id } of slow.waiting) {
            expect(state.position(id)).toBe(slow.position(id));
            const waiting = slow.waiting.find((other) => other.id === id)!;
            const gated = slow.isFront(waiting) && slow.isGated(waiting);
            const code = state.reason(id)?.code;
            expect(code === undefined ? 'none' : code === 'seeded_run' ? 'gate' : 'other').toBe(
              slow.canGo(waiting) ? (gated ? 'gate' : 'none') : 'other',
            );
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
