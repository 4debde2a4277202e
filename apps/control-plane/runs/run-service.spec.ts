import { CodedError } from '@cdui/protocol';
import { GRAPH, settle, Simulation } from './testing/simulation';

async function refusal(act: Promise<unknown>): Promise<{ code: string; params: Readonly<Record<string, unknown>> }> {
  try {
    await act;
  } catch (error) {
    if (error instanceof CodedError) return { code: error.code, params: error.params };
    throw error;
  }
  throw new Error('It was accepted');
}

describe('RunService', () => {
  it('takes a run from its submission to its end', async () => {
    const world = new Simulation();
    const { run_id: id, status } = await world.submit({ seed: 7 });
    expect(status).toBe('queued');
    await settle();
    const execution = world.executor.get(id);
    expect(await world.status(id)).toBe('running');
    expect(execution.request).toMatchObject({
      kind: 'start',
      graph: GRAPH,
      options: { device: 'cpu', seed: 7, error_mode: 'fail_fast' },
      placement: { worker: 'local', devices: ['cpu'], slots: [{ worker: 'local', device: 'cpu' }] },
    });
    execution.begin();
    execution.report('a');
    execution.end();
    await settle();
    expect(await world.events(id)).toEqual(['execution_start', 'node_status', 'execution_complete']);
    const run = await world.service.get(id);
    expect(run).toMatchObject({
      status: 'succeeded',
      active: false,
      queue_position: null,
      last_cursor: 3,
      graph: GRAPH,
      execution_facts: { runtime: 'fake', fingerprint_source: 'control-plane', peak_memory: [] },
      fingerprint_digest: 'digest',
      options: { device: 'cpu', seed: 7, lane: 'queued' },
    });
    expect(world.log.published).toEqual([{ runId: id, cursor: 3, type: 'execution_complete' }]);
    expect(world.service.activeCount).toBe(0);
  });

  it('answers only when the run is committed, and hands nothing out before its row says running', async () => {
    const world = new Simulation();
    world.database.hold();
    let answered = false;
    const submitted = world.submit().then((answer) => {
      answered = true;
      return answer;
    });
    await settle();
    expect([answered, world.executor.requests.length]).toEqual([false, 0]);
    world.database.commit(1);
    const { run_id: id } = await submitted;
    await settle();
    expect([await world.status(id), world.executor.requests.length]).toEqual(['queued', 0]);
    world.database.commit(1);
    await settle();
    expect([await world.status(id), world.executor.requests.length]).toEqual(['running', 1]);
  });

  it('keeps the order of submission, with places in the queue and the reason for waiting', async () => {
    const world = new Simulation({ devices: ['cpu', 'cuda:0'] });
    const ids = [];
    for (let index = 0; index < 5; index++) ids.push((await world.submit()).run_id);
    const { run_id: onCard } = await world.submit({ device: 'cuda' });
    await settle();
    const { runs, total } = await world.service.list({ limit: 50, offset: 0, order: 'asc' });
    expect(total).toBe(6);
    expect(runs.map(({ status, queue_position: place }) => [status, place])).toEqual([
      ['running', null],
      ['running', null],
      ['queued', 1],
      ['queued', 2],
      ['queued', 3],
      ['running', null],
    ]);
    expect(runs[5]).toMatchObject({ id: onCard, queue_key: 'cuda:0', devices: ['cuda:0'] });
    expect(runs[2]).toMatchObject({ queue_reason: null, queue_reason_code: null });
    await world.service.cancel(ids[2]!);
    world.executor.get(ids[0]!).end();
    await settle();
    expect(await world.status(ids[3]!)).toBe('running');
    expect(await world.status(ids[4]!)).toBe('queued');
  });

  it('says in the log when a device is replaced, and refuses a set that is not there', async () => {
    const world = new Simulation();
    const { run_id: id } = await world.submit({ device: 'cuda:3' });
    await settle();
    world.executor.get(id).begin();
    await settle(world.clock);
    expect(await world.events(id)).toEqual(['execution_start', 'run_warning']);
    const { events } = await world.database.events.read(id, 1, 1, Infinity);
    expect(JSON.parse(events[0]!.payload)).toMatchObject({
      kind: 'device_fallback',
      code: 'device_fallback',
      params: { asked: 'cuda:3', used: 'cpu' },
    });
    expect(await refusal(world.submit({ target: { devices: ['cuda:0'] } }))).toMatchObject({
      code: 'device_unavailable',
      params: { missing: ['cuda:0'] },
    });
  });

  it('lets a seeded run of the queue run alone, in its turn', async () => {
    const world = new Simulation();
    const ids: string[] = [];
    for (const seed of [null, 3, null, null]) ids.push((await world.submit({ seed })).run_id);
    const running = async (): Promise<boolean[]> =>
      Promise.all(ids.map(async (id) => (await world.status(id)) === 'running'));
    await settle();
    expect(await running()).toEqual([true, false, false, false]);
    world.executor.get(ids[0]!).end();
    await settle();
    expect(await running()).toEqual([false, true, false, false]);
    expect(await world.submit({ lane: 'interactive', seed: 4 })).toMatchObject({ status: 'running' });
    world.executor.get(ids[1]!).crash();
    await settle();
    expect(await running()).toEqual([false, false, true, true]);
  });

  it('takes device, seed and determinism from the graph when the options leave them open', async () => {
    const world = new Simulation({ devices: ['cpu', 'cuda:0'] });
    const graph = { ...GRAPH, settings: { device: 'cuda', seed: 5, deterministic: true } };
    await world.submit({}, graph);
    await settle();
    const expected = { device: 'cuda:0', seed: 5, deterministic: true };
    expect(world.executor.requests[0]).toMatchObject({ options: expected });
  });

  it('refuses a graph that cannot run, and stores nothing', async () => {
    const world = new Simulation();
    const bad = { ...GRAPH, nodes: [{ id: 'a', type: 'Bad' }] };
    expect(await refusal(world.submit({}, bad))).toMatchObject({ code: 'invalid_graph' });
    expect((await world.service.list({ limit: 1, offset: 0 })).total).toBe(0);
    expect(world.service.activeCount).toBe(0);
  });

  it('keeps secrets in memory only, and cannot repeat a run that had some', async () => {
    const world = new Simulation();
    const graph = { ...GRAPH, nodes: [{ id: 'a', type: 'Start', data: { params: { key: 'hush' } } }] };
    const { run_id: id } = await world.submit({}, graph);
    await settle();
    expect(world.executor.requests[0]).toMatchObject({ graph });
    expect(await world.store.graph(id)).not.toContain('hush');
    world.executor.get(id).end();
    await settle();
    expect(await refusal(world.service.retry(id))).toMatchObject({ code: 'secrets_needed' });
  });

  it('repeats a run with its graph and options', async () => {
    const world = new Simulation();
    const { run_id: id } = await world.service.submit({ graph: GRAPH, options: { seed: 9 }, name: 'mine' });
    await settle();
    world.executor.get(id).end('failed');
    await settle();
    const { run_id: again } = await world.service.retry(id);
    await settle();
    expect(await world.service.get(again)).toMatchObject({
      name: 'mine',
      status: 'running',
      retry_of: id,
      options: (await world.service.get(id)).options,
      graph: GRAPH,
    });
  });

  it('cancels what waits at once, what runs when it stops, and what has ended not at all', async () => {
    const world = new Simulation({ limits: { slots: { gpu: 1, cpu: 1, overrides: '' } } });
    const [running, waiting] = [(await world.submit()).run_id, (await world.submit()).run_id];
    await settle();
    expect(await world.service.cancel(waiting)).toEqual({ run_id: waiting, status: 'cancelled', cancelled: true });
    expect(await world.service.cancel(running)).toEqual({ run_id: running, status: 'running', cancelled: true });
    expect(await world.service.cancel(running)).toMatchObject({ cancelled: false });
    const { signal } = world.executor.get(running).request;
    expect([signal.aborted, signal.reason]).toEqual([true, 'user']);
    world.executor.get(running).end('interrupted');
    await settle();
    expect(await world.service.cancel(running)).toEqual({ run_id: running, status: 'cancelled', cancelled: false });
    expect(await world.events(waiting)).toEqual(['execution_stopped']);
    expect(await refusal(world.service.cancel('nobody'))).toMatchObject({ code: 'run_not_found' });
  });

  it('starts the more urgent first, and moves what waits', async () => {
    const world = new Simulation({ limits: { slots: { gpu: 1, cpu: 1, overrides: '' } } });
    const running = (await world.submit()).run_id;
    const plain = (await world.submit()).run_id;
    const urgent = (await world.submit({ priority: 7 })).run_id;
    const last = (await world.submit()).run_id;
    const order = async (): Promise<readonly string[]> => {
      const { runs } = await world.service.list({ status: ['queued'], limit: 9, offset: 0 });
      return [...runs].sort((a, b) => a.queue_position! - b.queue_position!).map(({ id }) => id);
    };
    expect(await order()).toEqual([urgent, plain, last]);
    expect(await world.service.move(last, urgent)).toEqual({ run_id: last, queue_position: 1 });
    expect(await order()).toEqual([last, urgent, plain]);
    expect(await world.service.move(urgent, 99)).toEqual({ run_id: urgent, queue_position: 3 });
    expect(await order()).toEqual([last, plain, urgent]);
    expect(await refusal(world.service.move(running, 1))).toMatchObject({ code: 'run_not_waiting' });
    expect(await refusal(world.service.move(last, running))).toMatchObject({
      code: 'run_not_waiting',
      params: { run_id: running, status: 'running' },
    });
    expect(await refusal(world.service.move(last, 'nobody'))).toMatchObject({ code: 'run_not_found' });
    for (const next of [running, last, plain]) {
      world.executor.get(next).end();
      await settle();
    }
    expect(await world.status(urgent)).toBe('running');
  });

  it('does not move a run into another queue', async () => {
    const world = new Simulation({ devices: ['cpu', 'cuda:0'], limits: { slots: { gpu: 1, cpu: 1, overrides: '' } } });
    for (const device of ['cpu', 'cuda:0']) await world.submit({ device });
    const [here, there] = [(await world.submit()).run_id, (await world.submit({ device: 'cuda:0' })).run_id];
    expect(await refusal(world.service.move(here, there))).toMatchObject({ code: 'run_in_other_queue' });
  });

  it('executes a run for any machine itself, like one of its own, where no worker is', async () => {
    const world = new Simulation({
      devices: ['cpu', 'cuda:0', 'cuda:1'],
      limits: { slots: { gpu: 1, cpu: 1, overrides: '' } },
    });
    await world.submit({ device: 'cuda:0' });
    const { run_id: id } = await world.submit({ device: 'cuda', target: { worker: 'any' } });
    await settle();
    const { request } = world.executor.get(id);
    expect(request).toMatchObject({
      placement: { worker: 'local', devices: ['cuda:1'] },
      options: { device: 'cuda:1' },
    });
    world.executor.get(id).end();
    await settle(world.clock);
    expect(await world.service.get(id)).toMatchObject({
      ...{ queue_key: 'any/cuda', worker_id: null, devices: ['cuda:1'], status: 'succeeded' },
      execution_facts: { fingerprint_source: 'control-plane' },
    });
  });

  it('refuses a run for any machine that nobody could ever take', async () => {
    const world = new Simulation({ devices: ['cpu', 'cuda:0', 'cuda:1'] });
    for (const devices of [['cuda:1'], ['cuda:0', 'cuda:1'], ['mps:0']]) {
      const refused = await refusal(world.submit({ target: { worker: 'any', devices } }));
      expect(refused).toMatchObject({ code: 'device_not_offered', params: { worker: 'any', missing: devices } });
    }
    expect(await world.submit({ target: { worker: 'any', devices: ['cuda:0'] } })).toMatchObject({ status: 'queued' });
  });

  it('deletes ended runs with their files, and no others', async () => {
    const world = new Simulation();
    const { run_id: id } = await world.submit();
    await settle();
    expect(await refusal(world.service.delete(id))).toMatchObject({
      code: 'run_active',
      params: { status: 'running' },
    });
    world.executor.get(id).end();
    await settle();
    expect(await world.service.delete(id)).toEqual({ run_id: id, deleted: true });
    expect(world.removed).toEqual([id]);
    expect(await refusal(world.service.get(id))).toMatchObject({ code: 'run_not_found' });
    expect(await refusal(world.service.delete(id))).toMatchObject({ code: 'run_not_found' });
  });

  it('keeps the newest ended runs, as many as it should', async () => {
    const world = new Simulation({ limits: { keepLast: 2 } });
    const ids = [];
    for (let index = 0; index < 5; index++) {
      const { run_id: id } = await world.submit();
      await settle();
      world.clock.advance(1);
      world.executor.get(id).end();
      await settle();
      ids.push(id);
    }
    // Somebody may still wait to read how they ended.
    expect(world.removed).toEqual([]);
    world.clock.advance(59_000);
    await settle();
    expect(world.removed).toEqual([]);
    world.clock.advance(61_000);
    await settle();
    expect(world.removed).toEqual(ids.slice(0, 3));
    expect((await world.service.list({ limit: 50, offset: 0 })).runs.map(({ id }) => id)).toEqual([ids[4], ids[3]]);
  });

  it('starts canvas runs at once, or refuses them', async () => {
    const world = new Simulation({ limits: { slots: { gpu: 1, cpu: 1, overrides: '' } } });
    await world.submit();
    const interactive = { lane: 'interactive' };
    expect(await world.submit(interactive)).toMatchObject({ status: 'running' });
    const { run_id: second } = await world.submit(interactive);
    expect(await refusal(world.submit(interactive))).toMatchObject({ code: 'interactive_limit', params: { limit: 2 } });
    await settle();
    world.executor.get(second).end();
    await settle();
    expect(await world.submit(interactive)).toMatchObject({ status: 'running' });
  });

  it('lets a run keep its place when its start cannot be stored, and tries again later', async () => {
    const world = new Simulation({ limits: { slots: { gpu: 1, cpu: 1, overrides: '' } } });
    world.database.hold();
    const submitted = [world.submit(), world.submit()];
    await settle();
    world.database.commit(2);
    const [first, second] = (await Promise.all(submitted)).map(({ run_id: id }) => id);
    world.database.failing = 'the disk is full';
    world.database.release();
    await settle();
    const { runs } = await world.service.list({ limit: 2, offset: 0, order: 'asc' });
    expect(runs.map(({ status, queue_position: place }) => [status, place])).toEqual([
      ['queued', 1],
      ['queued', 2],
    ]);
    world.database.failing = null;
    world.clock.advance(250);
    await settle();
    expect([await world.status(first!), await world.status(second!)]).toEqual(['running', 'queued']);
  });

  it('fails a canvas run whose start cannot be stored', async () => {
    const world = new Simulation();
    const store = world.store;
    const start = store.start.bind(store);
    store.start = () => Promise.reject(new CodedError('storage_failed', 'no'));
    const { run_id: id, status } = await world.submit({ lane: 'interactive' });
    await settle();
    store.start = start;
    expect(status).not.toBe('running');
    expect(await world.service.get(id)).toMatchObject({
      status: 'failed',
      execution_facts: { error_reason: { code: 'start_failed' } },
    });
    expect(world.executor.requests).toEqual([]);
  });

  it('refuses a run that cannot be stored, and knows nothing of it', async () => {
    const world = new Simulation();
    world.database.failing = 'the disk is full';
    expect(await refusal(world.submit())).toMatchObject({ code: 'storage_failed' });
    expect(await refusal(world.submit({ lane: 'interactive' }))).toMatchObject({ code: 'storage_failed' });
    world.database.failing = null;
    expect(world.service.activeCount).toBe(0);
    for (let index = 0; index < 2; index++) await world.submit({ lane: 'interactive' });
  });

  it('ends a run whose reports cannot be stored, and holds its slot until it has stopped', async () => {
    const world = new Simulation({ limits: { slots: { gpu: 1, cpu: 1, overrides: '' } } });
    const [first, second] = [(await world.submit()).run_id, (await world.submit()).run_id];
    await settle();
    const execution = world.executor.get(first);
    execution.begin();
    await settle(world.clock);
    world.database.failing = 'the disk is full';
    execution.report('a');
    await settle(world.clock);
    expect(execution.request.signal.reason).toBe('lost');
    expect(await world.status(second)).toBe('queued');
    world.database.failing = null;
    execution.end('interrupted');
    await settle();
    expect(await world.service.get(first)).toMatchObject({
      status: 'failed',
      execution_facts: { error_reason: { code: 'storage_failed' } },
    });
    expect(await world.events(first)).toEqual(['execution_start', 'execution_error']);
    expect(await world.status(second)).toBe('running');
  });

  it('goes on trying to store how a run ended, and frees nothing before it is', async () => {
    const world = new Simulation({ limits: { slots: { gpu: 1, cpu: 1, overrides: '' } } });
    const [first, second] = [(await world.submit()).run_id, (await world.submit()).run_id];
    await settle();
    world.database.failing = 'the disk is full';
    world.executor.get(first).end();
    await settle();
    world.clock.advance(10_000);
    await settle();
    expect([await world.status(first), world.log.published]).toEqual(['running', []]);
    expect(world.service.activeCount).toBe(2);
    world.database.failing = null;
    world.clock.advance(10_000);
    await settle();
    expect([await world.status(first), await world.status(second)]).toEqual(['succeeded', 'running']);
  });

  it('files a run whose executor breaks as failed, and says no more than that', async () => {
    const world = new Simulation();
    const { run_id: id } = await world.submit();
    await settle();
    world.executor.get(id).crash();
    await settle();
    expect(await world.service.get(id)).toMatchObject({ status: 'failed' });
    expect((await world.service.get(id)).error).not.toContain('boom');
    expect(world.reports).toHaveLength(1);
  });

  it('ends what an earlier server left, each with its last event', async () => {
    const world = new Simulation();
    const ids = [];
    for (let index = 0; index < 3; index++) ids.push((await world.submit()).run_id);
    await settle();
    world.executor.get(ids[0]!).begin();
    await settle(world.clock);
    const next = world.crash();
    await next.service.recover();
    for (const id of ids) {
      const run = await next.service.get(id);
      expect(run).toMatchObject({
        status: 'interrupted',
        execution_facts: { error_reason: { code: 'server_restarted' } },
      });
      expect(run.error).toBe('The server ended before the run was over');
    }
    expect(await next.events(ids[0]!)).toEqual(['execution_start', 'execution_stopped']);
    expect(await next.events(ids[2]!)).toEqual(['execution_stopped']);
    expect(next.service.activeCount).toBe(0);
    const { run_id: fresh } = await next.submit();
    expect((await next.store.get(fresh))?.queueSeq).toBe(4);
    await settle();
    expect(await next.status(fresh)).toBe('running');
  });

  it('retires what waits when it stops, gives what runs its time, and takes nothing more', async () => {
    const world = new Simulation();
    const ids = [];
    for (let index = 0; index < 3; index++) ids.push((await world.submit()).run_id);
    await settle();
    const over = world.service.shutdown(5_000);
    await settle();
    expect(await world.status(ids[2]!)).toBe('interrupted');
    expect(await refusal(world.submit())).toMatchObject({ code: 'server_draining' });
    expect(world.executor.get(ids[0]!).request.signal.reason).toBe('shutdown');
    world.executor.get(ids[0]!).end('interrupted');
    await settle();
    expect(await world.service.get(ids[0]!)).toMatchObject({
      status: 'interrupted',
      execution_facts: { error_reason: { code: 'server_stopped' } },
    });
    world.clock.advance(5_000);
    expect(await over).toBe(1);
    expect(await world.status(ids[1]!)).toBe('running');
  });

  it('is over at once when nothing runs', async () => {
    expect(await new Simulation().service.shutdown(5_000)).toBe(0);
  });

  it('ends a run that was being stored when the server began to stop', async () => {
    const world = new Simulation();
    world.database.hold();
    const submitted = world.submit();
    await settle();
    const over = world.service.shutdown(5_000);
    world.database.release();
    expect(await over).toBe(0);
    expect(await world.status((await submitted).run_id)).toBe('interrupted');
    expect(world.executor.requests).toEqual([]);
  });

  it('tells of every change, with a number that grows', async () => {
    const world = new Simulation();
    const changes: (string | null)[][] = [];
    let last = 0;
    world.service.changes.subscribe(({ id, rev, status }) => {
      expect(rev).toBeGreaterThan(last);
      last = rev;
      changes.push([id, status]);
    });
    const { run_id: id } = await world.submit();
    await settle();
    world.executor.get(id).end();
    await settle();
    await world.service.delete(id);
    expect(changes).toEqual([
      [id, 'queued'],
      [id, 'running'],
      [id, 'succeeded'],
      [id, null],
    ]);
  });
});
