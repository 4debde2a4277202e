import type { WaitingRun, WorkerState } from './requests';
import { ANY, LOCAL } from './requests';
import { SchedulerState } from './scheduler-state';
import { SlotLimits } from './slot-limits';

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

  it('serves the more urgent of a queue first, and equals in the order of submission', () => {
    const state = scheduler(['cuda:0']);
    state.submit({ ...run('a', ['cuda:0']) });
    expect(placedIds(state)).toEqual(['a']);
    state.submit({ ...run('b', ['cuda:0']) });
    state.submit({ ...run('c', ['cuda:0']), priority: 5 });
    state.submit({ ...run('d', ['cuda:0']), priority: 5 });
    state.submit({ ...run('e', ['cuda:0']), priority: -1 });
    expect(['b', 'c', 'd', 'e'].map((id) => state.position(id))).toEqual([3, 1, 2, 4]);
    for (const id of ['a', 'c', 'd', 'b']) {
      state.release(id);
      state.next();
    }
    expect(state.usage({ worker: LOCAL, device: 'cuda:0' }).used).toBe(1);
    expect(state.reason('e')).toBeNull();
  });

  it('moves a waiting run within its queue, any number of times', () => {
    const state = scheduler(['cpu']);
    state.drain(LOCAL, true);
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const id of ids) state.submit(run(id));
    const order = (): string => [...ids].sort((x, y) => state.position(x)! - state.position(y)!).join('');
    expect(state.move('e', 1)).toBe(true);
    expect(order()).toBe('eabcd');
    state.move('e', 3);
    expect(order()).toBe('abecd');
    state.move('a', 99);
    expect(order()).toBe('becda');
    // The numbers between two neighbours come to an end; places do not.
    for (let round = 0; round < 200; round++) state.move(round % 2 === 0 ? 'a' : 'd', 2);
    expect(order()).toBe('bdaec');
    state.submit(run('f'));
    expect(state.position('f')).toBe(6);
    expect(state.move('nobody', 1)).toBe(false);
  });

  it('lets a run that was moved before more urgent ones stand there, and one that comes back keep its place', () => {
    const state = scheduler(['cuda:0']);
    state.submit({ ...run('first', ['cuda:0']), priority: 1 });
    state.submit(run('second', ['cuda:0']));
    state.submit(run('third', ['cuda:0']));
    state.move('third', 1);
    expect(state.next()?.run.id).toBe('third');
    state.giveBack('third');
    expect(['third', 'first', 'second'].map((id) => state.position(id))).toEqual([1, 2, 3]);
  });

  const box = (id: string, changes: Partial<WorkerState> = {}): WorkerState => ({
    ...{ id, online: true, devices: ['cpu', 'cuda:0'] },
    ...changes,
  });
  const any = (id: string, devices: readonly string[], more: Partial<WaitingRun> = {}): WaitingRun => ({
    ...run(id, devices),
    ...{ worker: ANY, queueKey: `any/${devices.join('+') || 'cuda'}` },
    ...more,
  });
  const kind = { kind: 'cuda' };

  it('counts the slots of one card together, under the smallest limit of those who are there', () => {
    const state = scheduler(['cpu']);
    state.limits(new SlotLimits({ gpu: 3, cpu: 2, overrides: 'one/cuda:0=2' }));
    const card = { identities: { 'cuda:0': 'card:GPU-7' } };
    state.workerChanged(box('one', card));
    state.workerChanged(box('two', card));
    for (const [id, worker] of Object.entries({ a: 'one', b: 'two', c: 'two', d: 'one' })) {
      state.submit({ ...run(id, ['cuda:0']), worker, queueKey: `${worker}/cuda:0` });
    }
    expect(placedIds(state)).toEqual(['a', 'b']);
    const there = { worker: 'two', device: 'cuda:0' };
    const sameCard = [{ worker: 'one', device: 'cuda:0' }];
    expect(state.usage(there)).toEqual({ used: 2, limit: 2, limitedBy: 'one', sameCard });
    // Whoever is away limits nobody, unless a run of it is there.
    state.workerChanged(box('one', { ...card, online: false }));
    expect(placedIds(state)).toEqual([]);
    state.release('a');
    expect(state.usage(there)).toMatchObject({ used: 1, limit: 3, limitedBy: null });
    expect(placedIds(state)).toEqual(['c']);
  });

  it('gives a worker on the server’s own machine the server’s limit, unless it has one of its own', () => {
    const state = scheduler(['cpu', 'cuda:1']);
    const identities = { cpu: 'local/cpu', 'cuda:0': 'card:GPU-7' };
    state.workerChanged({
      id: LOCAL,
      online: true,
      devices: ['cpu', 'cuda:1'],
      identities: { 'cuda:1': 'card:GPU-7' },
    });
    state.workerChanged(box('guest', { identities, sameHost: true }));
    state.limits(new SlotLimits({ gpu: 1, cpu: 2, overrides: 'cpu=5, cuda:1=4' }));
    expect(state.usage({ worker: 'guest', device: 'cpu' })).toMatchObject({ limit: 5, limitedBy: null });
    expect(state.usage({ worker: 'guest', device: 'cuda:0' })).toMatchObject({ limit: 4, limitedBy: null });
    state.limits(new SlotLimits({ gpu: 1, cpu: 2, overrides: 'cpu=5, guest/cpu=3' }));
    expect(state.usage({ worker: LOCAL, device: 'cpu' })).toMatchObject({ limit: 3, limitedBy: 'guest' });
  });

  it('counts a run that was taken over on the card that it had, before anybody offers it', () => {
    const state = scheduler(['cpu']);
    const held = { worker: 'one', device: 'cuda:3' };
    const identities = { 'cuda:3': 'card:GPU-7' };
    state.hold({ run: run('old'), worker: 'one', devices: ['cuda:3'], slots: [held], identities });
    state.workerChanged(box('two', { identities: { 'cuda:0': 'card:GPU-7' } }));
    state.submit({ ...run('a', ['cuda:0']), worker: 'two' });
    expect(placedIds(state)).toEqual([]);
    state.release('old');
    expect(placedIds(state)).toEqual(['a']);
  });

  it('learns late which card a run holds', () => {
    const state = scheduler(['cpu', 'cuda:0']);
    state.submit(run('mine', ['cuda:0']));
    expect(placedIds(state)).toEqual(['mine']);
    const identities = { 'cuda:0': 'card:GPU-7' };
    state.workerChanged({ id: LOCAL, online: true, devices: ['cpu', 'cuda:0'], identities });
    state.workerChanged(box('guest', { identities }));
    state.submit({ ...run('a', ['cuda:0']), worker: 'guest' });
    expect(placedIds(state)).toEqual([]);
    state.release('mine');
    expect(placedIds(state)).toEqual(['a']);
  });

  it('brings a run that takes any machine to the first by name that can take it, and to the server last', () => {
    const state = scheduler(['cpu', 'cuda:0']);
    for (const id of ['zoe', 'ben', 'ann', 'gone']) state.workerChanged(box(id, { online: id !== 'gone' }));
    state.workerChanged(box('amy', { complete: false }));
    state.workerChanged(box('abe', { capabilities: [] }));
    state.drain('ben', true);
    for (const id of ['a', 'b', 'c', 'd']) state.submit(any(id, [], { ...kind, needs: ['record_outputs'] }));
    expect(placedIds(state)).toEqual(['a']);
    state.release('a');
    state.workerChanged(box('ann', { capabilities: ['record_outputs'] }));
    state.workerChanged(box('zoe', { capabilities: ['record_outputs'] }));
    expect([state.next(), state.next(), state.next(), state.next()].map((placed) => placed?.worker)).toEqual([
      ...['ann', 'zoe', LOCAL],
      undefined,
    ]);
  });

  it('never brings a set of cards that a worker would number anew to the server', () => {
    const state = scheduler(['cpu', 'cuda:0', 'cuda:1']);
    state.submit(any('set', ['cuda:0', 'cuda:1']));
    state.submit(any('one', ['cuda:1']));
    state.submit(any('first', ['cuda:0']));
    expect(placedIds(state)).toEqual(['first']);
    expect(state.reason('set')).toMatchObject({ code: 'no_worker_offers', params: { devices: ['cuda:0', 'cuda:1'] } });
    state.workerChanged(box('box', { devices: ['cpu', 'cuda:0', 'cuda:1'] }));
    expect(placedIds(state)).toEqual(['set']);
  });

  it('says of a run that takes any machine whose devices only draining ones have', () => {
    const state = scheduler(['cpu']);
    state.workerChanged(box('gpu-box'));
    state.drain('gpu-box', true);
    state.submit(any('a', [], kind));
    expect(placedIds(state)).toEqual([]);
    expect(state.reason('a')).toEqual({
      code: 'only_draining_workers',
      params: { devices: ['cuda'], workers: ['gpu-box'] },
      message: 'waiting for a worker that offers cuda: gpu-box is draining',
    });
    state.drain('gpu-box', false);
    expect(state.reason('a')).toBeNull();
    expect(placedIds(state)).toEqual(['a']);
  });

  it('does not give a run that came back the card that may still execute it, through whomever it is offered', () => {
    const state = scheduler(['cpu']);
    state.limits(new SlotLimits({ gpu: 2, cpu: 2, overrides: '' }));
    const card = { identities: { 'cuda:0': 'card:GPU-7' } };
    state.workerChanged(box('one', card));
    state.workerChanged(box('two', card));
    state.submit(any('a', [], kind));
    expect(placedIds(state)).toEqual(['a']);
    const fence = state.fence('a');
    expect(fence?.worker).toBe('one');
    state.submit(any('b', [], kind));
    expect(placedIds(state)).toEqual([]);
    fence?.lift();
    expect(placedIds(state)).toEqual(['a', 'b']);
  });

  it('lets seeded runs go on side by side on workers, and alone on the server', () => {
    const state = scheduler(['cpu']);
    state.workerChanged(box('box'));
    for (const id of ['a', 'b', 'c', 'd']) state.submit(any(id, ['cpu'], { alone: true }));
    expect(placedIds(state)).toEqual(['a', 'b', 'c']);
    state.submit(run('e'));
    expect(placedIds(state)).toEqual([]);
    // Nobody else is left for the seeded run: it does not starve behind others of the server.
    state.drain('box', true);
    state.submit(run('f'));
    state.release('c');
    expect(placedIds(state)).toEqual(['d']);
    state.release('d');
    expect(placedIds(state)).toEqual(['e', 'f']);
  });

  it('looks at what was ruled out again for an older run: what an older set keeps is kept from the younger only', () => {
    const state = scheduler(['cpu']);
    state.workerChanged(box('ann', { devices: ['cuda:0', 'cuda:1'] }));
    state.workerChanged(box('ben', { devices: ['cuda:0'] }));
    const at = (id: string, worker: string, devices: readonly string[]): WaitingRun => ({
      ...run(id, devices),
      ...{ worker, queueKey: `${worker}/${devices.join('+')}` },
    });
    state.submit(at('busy', 'ann', ['cuda:0']));
    state.submit(at('other', 'ann', ['cuda:1']));
    expect(placedIds(state)).toEqual(['busy', 'other']);
    state.submit(any('old', ['cuda:0']));
    expect(placedIds(state)).toEqual(['old']);
    state.submit(at('set', 'ann', ['cuda:0', 'cuda:1']));
    state.submit(any('young', ['cuda:0']));
    state.release('busy');
    expect(placedIds(state)).toEqual([]);
    state.fence('old');
    expect(state.next()).toMatchObject({ run: { id: 'old' }, worker: 'ann' });
  });

  it('lets another run have the room that a returned one must not take', () => {
    const state = scheduler(['cpu']);
    state.limits(new SlotLimits({ gpu: 2, cpu: 2, overrides: '' }));
    state.workerChanged(box('one'));
    state.submit(any('a', [], kind));
    expect(placedIds(state)).toEqual(['a']);
    state.fence('a');
    expect(placedIds(state)).toEqual([]);
    state.submit(any('b', [], kind));
    state.remove('a');
    expect(placedIds(state)).toEqual(['b']);
  });

  it('keeps the server free for a seeded run only while no other machine is there for it', () => {
    const state = scheduler(['cpu']);
    state.workerChanged(box('full', { online: false, devices: ['cpu'] }));
    const slots = [{ worker: 'full', device: 'cpu' }];
    for (const id of ['x', 'y']) state.hold({ run: run(id), worker: 'full', devices: ['cpu'], slots });
    state.submit(run('a'));
    expect(placedIds(state)).toEqual(['a']);
    state.submit(any('seeded', ['cpu'], { alone: true }));
    state.submit(run('b'));
    expect(placedIds(state)).toEqual([]);
    state.workerChanged(box('full', { devices: ['cpu'] }));
    expect(placedIds(state)).toEqual(['b']);
  });

  it('gives the cards of a set whose worker drains to others that offer them', () => {
    const state = scheduler(['cpu']);
    const identities = { 'cuda:0': 'card:GPU-7' };
    state.workerChanged(box('one', { devices: ['cuda:0', 'cuda:1'], identities }));
    state.workerChanged(box('two', { identities }));
    state.submit({ ...run('busy', ['cuda:1']), worker: 'one' });
    expect(placedIds(state)).toEqual(['busy']);
    state.submit({ ...run('set', ['cuda:0', 'cuda:1']), worker: 'one' });
    state.submit({ ...run('a', ['cuda:0']), worker: 'two' });
    expect(placedIds(state)).toEqual([]);
    state.drain('one', true);
    expect(placedIds(state)).toEqual(['a']);
  });

  it('starts crossed sets one after the other, five hundred times', () => {
    const state = scheduler();
    const sets = [
      ['cuda:0', 'cuda:1'],
      ['cuda:1', 'cuda:0'],
      ['cuda:1', 'cuda:2'],
      ['cuda:2', 'cuda:0'],
    ];
    const running: string[] = [];
    const left = new Set<string>();
    for (let round = 0; round < 500; round++) {
      for (const [index, set] of sets.entries()) {
        state.submit(run(`${round}.${index}`, set));
        left.add(`${round}.${index}`);
      }
      running.push(...placedIds(state));
      const over = running.shift();
      if (over === undefined) continue;
      state.release(over);
      left.delete(over);
    }
    running.push(...placedIds(state));
    for (let over = running.shift(); over !== undefined; over = running.shift()) {
      state.release(over);
      left.delete(over);
      running.push(...placedIds(state));
    }
    expect(left.size).toBe(0);
  });

  it('starts a set behind a stream of runs on one card within the length of one of them', () => {
    const state = scheduler();
    const LENGTH = 10;
    const ends = new Map<string, number>();
    let startedAt: number | null = null;
    for (let time = 0; time < 60 && startedAt === null; time++) {
      for (const [id, at] of ends) {
        if (at !== time) continue;
        state.release(id);
        ends.delete(id);
      }
      // The cards are never free at the same time, and there is one more for each of them the moment that it is.
      for (const [card, from] of [
        ['cuda:0', 0],
        ['cuda:1', 5],
      ] as const) {
        const isBusy = state.usage({ worker: LOCAL, device: card }).used > 0 || state.depths().has(card);
        if (time >= from && !isBusy) state.submit(run(`${card} ${time}`, [card]));
      }
      if (time === 13) state.submit(run('set', ['cuda:0', 'cuda:1']));
      for (const id of placedIds(state)) {
        if (id === 'set') startedAt = time;
        ends.set(id, time + LENGTH);
      }
    }
    expect(startedAt).not.toBeNull();
    expect(startedAt! - 13).toBeLessThanOrEqual(LENGTH);
  });
});
