import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CollectingSinks } from '@cdui/execution/testing/collecting-sinks';
import type { RunPlace } from '@cdui/execution';
import type { GraphFile, RunHostMessage } from '@cdui/protocol';
import { times } from '../../testing/long';
import type { HostSession } from './client';
import { InProcessExecutor, RunHosts } from './client';
import { chain, until, Workplace } from './testing/workplace';

const EXAMPLES = join(__dirname, '../../examples');

/** Custom nodes of these tests, by what their `execute` does. */
const NODES = {
  Give: `return { value: params.int('amount') };`,
  Busy: `
    const end = Date.now() + params.int('amount');
    while (Date.now() < end);
    return { value: 1 };`,
  Spin: `context.log('spinning'); await context.drained(); await new Promise((go) => setImmediate(go));
    while (true);`,
  Poll: `context.log('polling'); await new Promise((go) => setImmediate(go));
    while (!context.cancelled);
    return { value: 1 };`,
  Shout: `
    process.stdout.write('out '); console.log('log'); console.error('error ' + params.text('key'));
    return { value: 1 };`,
  Leak: `throw new Error('refused the key ' + params.text('key'));`,
  Stray: `setTimeout(() => { throw new Error('stray ' + params.text('key')); }, 1);
    await new Promise(() => undefined);`,
  Exit: `process.exit(7);`,
  Hoard: `for (let head = null; ; ) head = { head };`,
  Flood: `
    for (let step = 0; step < params.int('amount'); step += 1) {
      context.progress({ event: 'batch', step });
      await context.drained();
    }
    return { value: 1 };`,
  Torrent: `
    for (let step = 0; step < params.int('amount'); step += 1) context.progress({ event: 'batch', step });
    return {};`,
  Crunch: `
    const { scope } = context;
    const size = params.int('amount');
    let x = scope.op('randn', [], { shape: [size, size] });
    for (let round = 0; round < 40; round += 1) x = scope.op('matmul', [x, x], {});
    context.log('queued');
    await new Promise((go) => setTimeout(go, 100));
    while (true);`,
};

describe('InProcessExecutor', () => {
  let workplace: Workplace;
  let executor: InProcessExecutor;

  beforeAll(() => {
    workplace = new Workplace(NODES);
  });
  beforeEach(() => {
    executor = new InProcessExecutor({ threads: 2 });
  });
  afterEach(() => executor.close());
  afterAll(() => workplace.remove());

  it('runs a graph and reports it in order, with times that only grow', async () => {
    const { outcome, sinks } = await workplace.run(executor, chain(['a', 'Give', { amount: 3 }], ['b', 'Give']));
    expect(outcome).toMatchObject({
      status: 'succeeded',
      error: null,
      reason: null,
      failed_nodes: [],
      skipped_nodes: [],
    });
    expect(outcome.final_outputs).toContainEqual({
      node_id: 'b',
      port: 'value',
      summary: { type: 'scalar', value: 0 },
    });
    expect(outcome.facts).toMatchObject({ runtime: { kind: 'onnx', device: 'cpu' } });
    expect(outcome.peak_memory).toMatchObject([{ device: 'cpu', exact: false }]);
    expect(sinks.starts).toBe(1);
    expect(sinks.trail.filter((entry) => !entry.startsWith('start'))).toEqual([
      'a:running',
      'a:completed',
      'b:running',
      'b:completed',
    ]);
    expect(sinks.points).toContainEqual({ name: 'value', value: 3, step: 1, node_id: 'a' });
    expect(sinks.times).toEqual([...sinks.times].sort((a, b) => a - b));
  });

  it('keeps the event loop free while a node loops for 5 s', async () => {
    const delay = monitorEventLoopDelay({ resolution: 10 });
    executor.prepare();
    const sinks = new CollectingSinks();
    const run = workplace.run(executor, chain(['busy', 'Busy', { amount: 5_000 }]), { sinks });
    await until(sinks, () => sinks.trail.includes('busy:running'), run);
    delay.enable();
    const { outcome } = await run;
    delay.disable();
    expect(outcome.status).toBe('succeeded');
    expect(delay.percentile(99) / 1e6).toBeLessThanOrEqual(50);
  });

  it('refuses a graph that cannot run with every problem, and does not start it', async () => {
    const { outcome, sinks } = await workplace.run(executor, chain(['a', 'NoSuchNode'], ['b', 'NoneEither']));
    expect(outcome).toMatchObject({ status: 'failed', reason: { code: 'invalid_graph' } });
    expect(outcome.error).toMatch(/NoSuchNode.*; .*NoneEither/);
    expect(sinks.starts).toBe(0);
  });

  it('refuses a device that there is not', async () => {
    const { outcome } = await workplace.run(executor, chain(['a', 'Give']), { options: { device: 'cuda:0' } });
    expect(outcome).toMatchObject({ status: 'failed', reason: { code: 'device_not_available' } });
  });

  it('stops inside a training loop at the next batch', async () => {
    const graph = JSON.parse(readFileSync(join(EXAMPLES, 'mlp-csv.graph.json'), 'utf8')) as GraphFile;
    const nodes = graph.nodes.map((node) =>
      node.type === 'TrainingLoop'
        ? { ...node, data: { ...node.data, params: { ...node.data?.params, epochs: 1_000_000 } } }
        : node,
    );
    const stop = new AbortController();
    const sinks = new CollectingSinks();
    const folders = { ...workplace.folders, examples: EXAMPLES };
    const run = executor.run({
      kind: 'start',
      runId: 'r1',
      graph: { ...graph, nodes },
      options: { seed: 1 },
      placement: { worker: 'local', devices: ['cpu'], slots: [] },
      folders,
      sinks,
      signal: stop.signal,
    });
    await until(sinks, () => sinks.points.some(({ name, step }) => name === 'train_loss' && step >= 2), run);
    stop.abort('user');
    const outcome = await run;
    expect(outcome).toMatchObject({ status: 'cancelled', error: null, reason: { code: 'cancelled' } });
    expect(sinks.trail.filter((entry) => entry.endsWith(':interrupted'))).toHaveLength(1);
    expect(sinks.artifacts).toMatchObject([{ kind: 'checkpoint', meta: { reason: 'interrupted' } }]);
  });

  it('reaches a node that never yields through shared memory', async () => {
    const stop = new AbortController();
    const sinks = new CollectingSinks();
    const run = workplace.run(executor, chain(['p', 'Poll'], ['after', 'Give']), { sinks, signal: stop.signal });
    await until(sinks, () => sinks.text.includes('polling'), run);
    stop.abort('shutdown');
    const { outcome } = await run;
    expect(outcome).toMatchObject({ status: 'interrupted', reason: { params: { reason: 'shutdown' } } });
    expect(sinks.trail).not.toContain('after:running');
  });

  it('ends a node that ignores cancel and grace, and serves the next run', async () => {
    await executor.close();
    executor = new InProcessExecutor({ threads: 2, graceMs: 300 });
    const stop = new AbortController();
    const sinks = new CollectingSinks();
    const run = workplace.run(executor, chain(['s', 'Spin']), { sinks, signal: stop.signal });
    await until(sinks, () => sinks.text.includes('spinning'), run);
    stop.abort('user');
    const { outcome } = await run;
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: { code: 'run_unresponsive', params: { grace_s: 0.3 } },
      error: expect.stringContaining('did not stop within 0.3 s'),
    });
    expect((await workplace.run(executor, chain(['a', 'Give']))).outcome.status).toBe('succeeded');
  });

  it('lets the runtime finish its work when it ends a host in the middle of it', async () => {
    await executor.close();
    executor = new InProcessExecutor({ threads: 2, graceMs: 200 });
    const stop = new AbortController();
    const sinks = new CollectingSinks();
    const run = workplace.run(executor, chain(['m', 'Crunch', { amount: 2_000 }]), { sinks, signal: stop.signal });
    await until(sinks, () => sinks.text.includes('queued'), run);
    stop.abort('user');
    expect((await run).outcome.reason?.code).toBe('run_unresponsive');
    await executor.close();
  });

  it('keeps secrets out of errors, events and the console', async () => {
    const key = 'sk-canary-42';
    const leak = await workplace.run(executor, chain(['l', 'Leak', { key }]));
    const shout = await workplace.run(executor, chain(['s', 'Shout', { key }]));
    const stray = await workplace.run(executor, chain(['x', 'Stray', { key }]));
    expect(leak.outcome.error).toContain('refused the key [secret]');
    expect(JSON.stringify([leak, shout, stray])).not.toContain('canary');
  });

  it('shows what custom nodes print as the run’s console', async () => {
    const { sinks } = await workplace.run(executor, chain(['s', 'Shout', { key: 'hidden' }]));
    expect(sinks.text).toBe('out log\nerror [secret]\n');
  });

  it('names an error that node code throws outside of its execution', async () => {
    const { outcome } = await workplace.run(executor, chain(['x', 'Stray', { key: 'k1' }]));
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: { code: 'uncaught_error' },
      error: expect.stringContaining('stray'),
    });
  });

  it('names a thread that ends itself', async () => {
    const { outcome } = await workplace.run(executor, chain(['before', 'Give'], ['x', 'Exit']));
    expect(outcome).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/ended itself \(exit code 7\) \(while "x" ran\)$/),
      reason: { code: 'run_host_exited', params: { exit_code: 7, nodes: ['x'] } },
    });
  });

  it('ends a run whose node fills the heap, names the node, and serves the next run', async () => {
    const small = new InProcessExecutor({ threads: 1, heapMb: 64 });
    const { outcome, sinks } = await workplace.run(small, chain(['before', 'Give'], ['greedy', 'Hoard']));
    expect(outcome).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/ran out of memory: keep large data in tensors.*\(while "greedy" ran\)$/),
      reason: { code: 'run_out_of_memory', params: { memory: 'heap', nodes: ['greedy'] } },
    });
    expect(sinks.trail).toContain('before:completed');
    expect((await workplace.run(small, chain(['a', 'Give']))).outcome.status).toBe('succeeded');
    await small.close();
  });

  it('waits for a reader that is above its high-water mark, and loses nothing', async () => {
    const sinks = new CollectingSinks(100);
    const frames = () => sinks.trail.filter((entry) => entry === 'f:progress').length;
    let most = 0;
    const reading = setInterval(() => {
      most = Math.max(most, sinks.undrained);
      sinks.drain();
    }, 1);
    const { outcome } = await workplace.run(executor, chain(['f', 'Flood', { amount: 5_000 }]), { sinks });
    clearInterval(reading);
    expect(outcome.status).toBe('succeeded');
    expect(frames()).toBe(5_000);
    expect(most).toBeLessThan(2_000);
  });

  it('says how much a node that never waits has lost', async () => {
    const { sinks } = await workplace.run(executor, chain(['t', 'Torrent', { amount: 40_000 }]));
    const frames = sinks.trail.filter((entry) => entry === 't:progress').length;
    const [warning] = sinks.warnings.filter(({ kind }) => kind === 'dropped_signals');
    expect(frames).toBeLessThan(20_000);
    expect(frames + (warning?.count ?? 0)).toBe(40_000);
    expect(sinks.trail).toContain('t:completed');
  });

  it('refuses to adopt: a thread does not outlive its process', async () => {
    const signal = new AbortController().signal;
    const placement = { worker: 'local', devices: [], slots: [] };
    const request = {
      kind: 'adopt',
      runId: 'r',
      recordedSeq: 0,
      place: {} as RunPlace,
      placement,
      sinks: new CollectingSinks(),
      signal,
    } as const;
    await expect(executor.run(request)).rejects.toMatchObject({ code: 'adopt_not_possible' });
  });

  it('leaves no thread and no handle after many runs in a row', async () => {
    const count = (kind: string) => process.getActiveResourcesInfo().filter((name) => name === kind).length;
    const before = { workers: count('Worker'), ports: count('MessagePort') };
    const own = new InProcessExecutor({ threads: 1, spare: true });
    for (let run = 0; run < times(20, 50); run += 1) {
      const { outcome } = await workplace.run(own, chain(['a', 'Give', { amount: run }]));
      expect(outcome.status).toBe('succeeded');
    }
    await own.close();
    expect({ workers: count('Worker'), ports: count('MessagePort') }).toEqual(before);
  }, 120_000);
});

describe('a session', () => {
  let workplace: Workplace;
  let hosts: RunHosts;
  let session: HostSession;

  beforeEach(() => {
    workplace = new Workplace(NODES);
    hosts = new RunHosts({ threads: 1, graceMs: 300 });
    session = hosts.session();
  });
  afterEach(async () => {
    await hosts.close();
    workplace.remove();
  });

  async function run(graph: GraphFile) {
    const trail: string[] = [];
    const take = (message: RunHostMessage): boolean => {
      if (message.type === 'event') trail.push(`${message.event.payload.node_id}:${message.event.payload.status}`);
      return true;
    };
    const outcome = await session.run(
      { type: 'start', run_id: 'r', graph, options: {}, folders: workplace.folders },
      { take, drained: () => Promise.resolve() },
      new AbortController().signal,
    );
    return { outcome, trail: trail.filter((entry) => !entry.startsWith('start')) };
  }
  const give = (amount: number) => run(chain(['a', 'Give', { amount: 1 }], ['b', 'Give', { amount }]));

  it('keeps results from run to run until its cache is cleared', async () => {
    expect((await give(1)).trail).toEqual(['a:running', 'a:completed', 'b:running', 'b:completed']);
    expect((await give(1)).trail).toEqual(['a:cached', 'b:cached']);
    expect((await give(2)).trail).toEqual(['a:cached', 'b:running', 'b:completed']);
    session.clearCache();
    expect((await give(2)).trail).toEqual(['a:running', 'a:completed', 'b:running', 'b:completed']);
  });

  it('sees custom nodes that changed since its last run', async () => {
    await give(1);
    workplace.write('Give', `return { value: 'another ' + params.int('amount') };`);
    const { trail, outcome } = await give(1);
    expect(trail).toContain('a:completed');
    expect(outcome.final_outputs).toContainEqual({
      node_id: 'b',
      port: 'value',
      summary: { type: 'string', value: 'another 1' },
    });
  });

  it.each(['Stray', 'Exit'])('begins afresh after a run that broke its thread (%s)', async (type) => {
    expect((await run(chain(['x', type]))).outcome.status).toBe('failed');
    expect((await give(1)).outcome.status).toBe('succeeded');
  });
});
