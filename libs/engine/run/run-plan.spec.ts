import type { NodeContext, NodeSpec, PortValue } from '@cdui/node-sdk';
import { interrupted, param } from '@cdui/node-sdk';
import type { HostTensor } from '@cdui/tensor/runtime';
import { deriveSeed } from './seeds';
import { gate, Harness, planned, planOf, registryOf } from './testing/harness';

const constant: NodeSpec = {
  name: 'Constant',
  category: 'Test',
  description: '',
  outputs: { value: 'ANY' },
  params: { value: param.int(7) },
  execute: (_context, _inputs, params) => ({ value: params.raw('value') as PortValue }),
};
const sum: NodeSpec = {
  name: 'Sum',
  category: 'Test',
  description: '',
  inputs: { a: 'ANY?', b: 'ANY?', c: 'ANY?' },
  outputs: { value: 'SCALAR' },
  execute: (_context, inputs) => ({
    value: ['a', 'b', 'c'].reduce((total, port) => total + (inputs.optionalNumber(port) ?? 0), 0),
  }),
};
const tensor: NodeSpec = {
  name: 'Tensor',
  category: 'Test',
  description: '',
  outputs: { tensor: 'TENSOR' },
  execute: ({ scope }) => ({ tensor: scope.upload(vector(1, 2, 3)) }),
};
const pass: NodeSpec = {
  name: 'Pass',
  category: 'Test',
  description: '',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  execute: (_context, inputs) => ({ tensor: inputs.tensor('tensor') }),
};

function vector(...values: number[]): HostTensor {
  return { shape: [values.length], dtype: 'float32', data: Float32Array.from(values) };
}

/** A node that does what the test says. */
function acting(name: string, act: (context: NodeContext) => PortValue | Promise<PortValue>): NodeSpec {
  return {
    name,
    category: 'Test',
    description: '',
    inputs: { in: 'ANY?' },
    outputs: { value: 'ANY' },
    execute: async (context) => ({ value: await act(context) }),
  };
}

function failing(name: string, message: string, code?: string): NodeSpec {
  return acting(name, () => {
    throw Object.assign(new Error(message), code === undefined ? {} : { code });
  });
}

describe('runPlan', () => {
  it('passes values along edges, with defaults for params that the file leaves out', async () => {
    const harness = new Harness();
    const result = await harness.run({
      registry: registryOf(constant, sum),
      plan: planOf(
        planned('x', 'Constant'),
        planned('y', 'Constant', {}, { value: 5 }),
        planned('z', 'Sum', { a: 'x.value', b: 'y.value' }),
      ),
    });
    expect(result.status).toBe('succeeded');
    expect(result.finalOutputs).toEqual([{ nodeId: 'z', facts: { port: 'value', kind: 'scalar', value: 12 } }]);
    expect(harness.observer.trail.filter((entry) => entry.startsWith('z'))).toEqual(['z:running', 'z:completed']);
  });

  it('starts a node when its own inputs are ready, not when a level is done', async () => {
    const harness = new Harness();
    const slow = gate();
    await harness.run({
      registry: registryOf(
        constant,
        acting('Slow', () => slow.opened.then(() => 1)),
        acting('After', () => {
          slow.open();
          return 2;
        }),
      ),
      plan: planOf(
        planned('slow', 'Slow'),
        planned('fast', 'Constant'),
        planned('after', 'After', { in: 'fast.value' }),
      ),
    });
    const { trail } = harness.observer;
    expect(trail.indexOf('after:completed')).toBeLessThan(trail.indexOf('slow:completed'));
  });

  it('runs at most the given number of nodes at once', async () => {
    const harness = new Harness();
    let [now, most] = [0, 0];
    const busy = acting('Busy', async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return 0;
    });
    const nodes = Array.from({ length: 12 }, (_, index) => planned(`n${index}`, 'Busy'));
    await harness.run({ registry: registryOf(busy), plan: planOf(...nodes), maxParallel: 3 });
    expect(most).toBe(3);
  });

  it('runs one node at a time in the plan’s order when it is seeded, each with its own seed', async () => {
    const harness = new Harness();
    const seeds: unknown[] = [];
    const seeded = acting('Seeded', async ({ nodeId, seed, seedFor }) => {
      seeds.push([nodeId, seed]);
      await new Promise((resolve) => setImmediate(resolve));
      return typeof seedFor === 'function' ? 1 : 0;
    });
    await harness.run({
      registry: registryOf(seeded),
      plan: planOf(planned('b', 'Seeded'), planned('a', 'Seeded')),
      options: { seed: 42 },
    });
    expect(harness.observer.trail).toEqual(['b:running', 'b:completed', 'a:running', 'a:completed']);
    expect(seeds).toEqual([
      ['b', deriveSeed(42, 'b')],
      ['a', deriveSeed(42, 'a')],
    ]);
    expect(harness.fake.scopes).toEqual([`b#${deriveSeed(42, 'b')}`, `a#${deriveSeed(42, 'a')}`]);
  });

  it('keeps handles while somebody reads them and releases all of them, passed-on ones too', async () => {
    const harness = new Harness();
    const alive: number[] = [];
    const look = acting('Look', () => {
      alive.push(harness.fake.live.size);
      return 0;
    });
    await harness.run({
      registry: registryOf(tensor, pass, look),
      plan: planOf(
        planned('t', 'Tensor'),
        planned('p', 'Pass', { tensor: 't.tensor' }),
        planned('q', 'Pass', { tensor: 'p.tensor' }),
        planned('look', 'Look', { in: 'q.tensor' }),
        planned('late', 'Look', { in: 'look.value' }),
      ),
      maxParallel: 1,
    });
    expect(alive).toEqual([1, 0]);
    expect(harness.fake.live.size).toBe(0);
    expect(harness.fake.open.size).toBe(0);
  });

  it('keeps handles inside lists and objects', async () => {
    const harness = new Harness();
    const nested: NodeSpec = {
      ...tensor,
      name: 'Nested',
      outputs: { value: 'ANY' },
      execute: ({ scope }) => ({ value: [{ deep: scope.upload(vector(1)) }, scope.upload(vector(2))] }),
    };
    const alive: number[] = [];
    await harness.run({
      registry: registryOf(
        nested,
        acting('Look', () => alive.push(harness.fake.live.size)),
      ),
      plan: planOf(planned('n', 'Nested'), planned('l', 'Look', { in: 'n.value' })),
    });
    expect(alive).toEqual([2]);
    expect(harness.fake.live.size).toBe(0);
  });

  it('describes what ports carry before the handles go', async () => {
    const harness = new Harness();
    const result = await harness.run({ registry: registryOf(tensor), plan: planOf(planned('t', 'Tensor')) });
    const facts = {
      port: 'tensor',
      kind: 'tensor',
      shape: [3],
      dtype: 'float32',
      min: 1,
      max: 3,
      mean: 2,
      values: [1, 2, 3],
    };
    expect(harness.observer.last('t')?.ports).toEqual([facts]);
    expect(result.finalOutputs).toEqual([{ nodeId: 't', facts }]);
  });

  describe('when a node fails', () => {
    const plan = planOf(
      planned('bad', 'Bad'),
      planned('below', 'Sum', { a: 'bad.value' }),
      planned('deeper', 'Sum', { a: 'below.value' }),
      planned('other', 'Constant'),
    );
    const registry = registryOf(constant, sum, failing('Bad', 'it broke', 'broken'));

    it('fail_fast: starts nothing new and fails with the error', async () => {
      const harness = new Harness();
      const result = await harness.run({ registry, plan, maxParallel: 1 });
      expect(result).toMatchObject({
        status: 'failed',
        error: 'Bad "bad": it broke',
        failedNodes: ['bad'],
        skippedNodes: [],
      });
      expect(result.reason).toEqual({ code: 'node_failed', params: { node_id: 'bad', error_type: 'broken' } });
      expect(harness.observer.trail).toEqual(['bad:running', 'bad:error']);
      expect(harness.observer.last('bad')).toMatchObject({ error: 'it broke', errorType: 'broken' });
    });

    it('fail_fast: signals running nodes and awaits them', async () => {
      const harness = new Harness();
      const started = gate();
      const waiting = acting('Waiting', async ({ signal }) => {
        started.open();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw signal.reason;
      });
      const result = await harness.run({
        registry: registryOf(
          waiting,
          acting('Bad', () => started.opened.then(() => Promise.reject(new Error('it broke')))),
        ),
        plan: planOf(planned('w', 'Waiting'), planned('bad', 'Bad')),
      });
      expect(result).toMatchObject({ status: 'failed', failedNodes: ['bad'] });
      expect(harness.observer.last('w')?.status).toBe('interrupted');
    });

    it('continue: skips what lies below and runs the rest', async () => {
      const harness = new Harness();
      const result = await harness.run({ registry, plan, options: { error_mode: 'continue' } });
      expect(result).toMatchObject({
        status: 'failed',
        error: '1 of 4 nodes failed: Bad "bad": it broke',
        failedNodes: ['bad'],
        skippedNodes: ['below', 'deeper'],
      });
      expect(harness.observer.last('below')).toMatchObject({ status: 'skipped', error: 'upstream node failed' });
      expect(harness.observer.last('deeper')?.status).toBe('skipped');
      expect(harness.observer.last('other')?.status).toBe('completed');
    });

    it('retry: tries again after growing waits, then continues', async () => {
      const harness = new Harness();
      let attempts = 0;
      const flaky = acting('Flaky', () => {
        attempts += 1;
        if (attempts < 3) throw new Error('not yet');
        return attempts;
      });
      const result = await harness.run({
        registry: registryOf(flaky),
        plan: planOf(planned('f', 'Flaky')),
        options: { error_mode: 'retry', max_retries: 4 },
      });
      expect(result.status).toBe('succeeded');
      expect(harness.slept).toEqual([500, 1000]);
      expect(harness.observer.trail).toEqual(['f:running', 'f:completed']);
    });

    it('retry: gives up after the extra attempts', async () => {
      const harness = new Harness();
      const result = await harness.run({ registry, plan, options: { error_mode: 'retry', max_retries: 2 } });
      expect(harness.slept).toEqual([500, 1000]);
      expect(result).toMatchObject({ status: 'failed', failedNodes: ['bad'], skippedNodes: ['below', 'deeper'] });
    });

    it('retry: never repeats out of memory, and gives memory back', async () => {
      const harness = new Harness();
      const result = await harness.run({
        registry: registryOf(failing('Big', 'no memory left', 'out_of_memory')),
        plan: planOf(planned('big', 'Big')),
        options: { error_mode: 'retry', max_retries: 3 },
      });
      expect(harness.slept).toEqual([]);
      expect(harness.fake.released).toBe(1);
      expect(result.reason?.params).toMatchObject({ error_type: 'out_of_memory' });
    });

    it('carries a stack in debug mode only', async () => {
      const [quiet, debug] = [new Harness(), new Harness()];
      await quiet.run({ registry, plan });
      await debug.run({ registry, plan, debug: true });
      expect(quiet.observer.last('bad')?.trace).toBeUndefined();
      expect(debug.observer.last('bad')?.trace).toContain('run-plan.spec');
    });
  });

  describe('when it is asked to stop', () => {
    it('starts nothing new, awaits what runs and says cancelled', async () => {
      const harness = new Harness();
      const abort = new AbortController();
      const stopping = acting('Stopping', (context) => {
        abort.abort('user');
        return context.cancelled ? 1 : 0;
      });
      const result = await harness.run({
        registry: registryOf(stopping, sum),
        plan: planOf(planned('s', 'Stopping'), planned('t', 'Sum', { a: 's.value' })),
        signal: abort.signal,
      });
      expect(result).toMatchObject({
        status: 'cancelled',
        error: null,
        reason: { code: 'cancelled', params: { reason: 'user' } },
      });
      expect(harness.observer.trail).toEqual(['s:running', 's:completed']);
      expect(harness.observer.last('s')?.ports).toEqual([{ port: 'value', kind: 'scalar', value: 1 }]);
    });

    it.each<[string, (context: NodeContext) => PortValue, string]>([
      ['looked at cancelled', (context) => Number(context.cancelled), 'cancelled'],
      ['looked at the signal', ({ signal }) => Number(signal.aborted), 'cancelled'],
      ['did not look', () => 0, 'succeeded'],
    ])('says how the run ended when its last node %s and returned', async (_how, look, status) => {
      const harness = new Harness();
      const abort = new AbortController();
      const last = acting('Last', (context) => {
        abort.abort('user');
        return look(context);
      });
      const result = await harness.run({
        registry: registryOf(last),
        plan: planOf(planned('l', 'Last')),
        signal: abort.signal,
      });
      expect(result.status).toBe(status);
    });

    it('reports a node that stopped at a safe point as interrupted', async () => {
      const harness = new Harness();
      const abort = new AbortController();
      const loop: NodeSpec = {
        ...acting('Loop', () => 0),
        execute: () => {
          abort.abort('shutdown');
          return interrupted({ value: 1 }, { epoch: 2 });
        },
      };
      const result = await harness.run({
        registry: registryOf(loop),
        plan: planOf(planned('l', 'Loop')),
        signal: abort.signal,
      });
      expect(result.status).toBe('interrupted');
      expect(harness.observer.last('l')).toMatchObject({
        status: 'interrupted',
        outputs: [{ output_kind: 'progress', progress: { event: 'interrupted', epoch: 2 } }],
      });
    });

    it('sees the request in shared memory though the thread never yields', async () => {
      const harness = new Harness();
      let polled = 0;
      const spinning = acting('Spinning', (context) => {
        while (!context.cancelled) polled += 1;
        return context.signal.aborted;
      });
      const result = await harness.run({
        registry: registryOf(spinning),
        plan: planOf(planned('s', 'Spinning'), planned('t', 'Spinning', { in: 's.value' })),
        stopRequested: () => (polled > 3 ? 'user' : null),
      });
      expect(result.status).toBe('cancelled');
    });
  });

  it('follows containers: running, progress and errors at once, the strongest end', async () => {
    const harness = new Harness();
    const stepping = acting('Stepping', (context) => {
      context.progress({ event: 'batch' });
      return 1;
    });
    await harness.run({
      registry: registryOf(stepping, sum, failing('Bad', 'it broke')),
      plan: planOf(
        planned('box>a', 'Stepping'),
        planned('box>b', 'Sum', { a: 'box>a.value' }),
        planned('sad>a', 'Bad'),
        planned('sad>b', 'Sum', { a: 'sad>a.value' }),
      ),
      options: { error_mode: 'continue' },
      maxParallel: 1,
    });
    expect(harness.observer.trail).toEqual([
      'box>a:running',
      'box:running',
      'box:progress',
      'box>a:completed',
      'box>b:running',
      'box>b:completed',
      'box:completed',
      'sad>a:running',
      'sad:running',
      'sad>a:error',
      'sad:error',
      'sad>b:skipped',
    ]);
  });

  it('hides secrets wherever they turn up', async () => {
    const harness = new Harness();
    const secret = 'sk-"very"/secret';
    const leaky: NodeSpec = {
      name: 'Leaky',
      category: 'Test',
      description: '',
      params: { key: param.secret() },
      execute: (context, _inputs, params) => {
        const key = params.text('key');
        context.log(`using ${key}`);
        context.progress({ note: { header: `Bearer ${key}` } });
        context.warn({ kind: 'note', detail: `key ${key}` });
        context.artifact('file', `/tmp/${key}`, { key });
        context.output({ output_kind: 'chart', chart: { title: key } });
        throw new Error(`401 for ${JSON.stringify({ key })} at https://x/?k=${encodeURIComponent(key)}`);
      },
    };
    const result = await harness.run({
      registry: registryOf(leaky),
      plan: planOf(planned('l', 'Leaky', {}, { key: secret })),
      debug: true,
    });
    const { observer } = harness;
    const everything = JSON.stringify([
      result,
      observer.statuses,
      observer.warnings,
      observer.artifacts,
      observer.text,
    ]);
    expect(everything).not.toContain('very');
    expect(observer.last('l')?.error).toBe('401 for {"key":"[secret]"} at https://x/?k=[secret]');
  });

  it('waits for an observer above its high-water mark', async () => {
    const harness = new Harness(2);
    await harness.run({
      registry: registryOf(constant),
      plan: planOf(planned('a', 'Constant'), planned('b', 'Constant')),
    });
    expect(harness.observer.drains).toBeGreaterThan(0);
  });

  it('answers with the JSON forms of GraphOutput values', async () => {
    const harness = new Harness();
    const output: NodeSpec = {
      name: 'GraphOutput',
      category: 'IO',
      description: '',
      inputs: { value: 'ANY' },
      params: { name: param.text('') },
      execute: () => ({}),
    };
    const matrix: NodeSpec = {
      ...tensor,
      name: 'Matrix',
      execute: ({ scope }) => ({
        tensor: scope.upload({ shape: [2, 2], dtype: 'float32', data: Float32Array.of(1, 2, NaN, 4) }),
      }),
    };
    const model: NodeSpec = {
      ...tensor,
      name: 'Model',
      outputs: { model: 'MODEL' },
      execute: ({ scope }) => ({ model: scope.module({ inputs: [], outputs: [], nodes: [] }) }),
    };
    const nodes = [
      planned('m', 'Matrix'),
      planned('o', 'GraphOutput', { value: 'm.tensor' }, { name: 'grid' }),
      planned('model', 'Model'),
      planned('p', 'GraphOutput', { value: 'model.model' }, { name: 'net' }),
    ];
    const registry = registryOf(matrix, model, output);
    const plain = await harness.run({ registry, plan: planOf(...nodes) });
    expect(plain.status).toBe('succeeded');
    expect(plain.graphOutputs).toEqual({
      grid: {
        __type__: 'tensor',
        shape: [2, 2],
        dtype: 'float32',
        values: [
          [1, 2],
          [null, 4],
        ],
      },
    });
    expect(harness.observer.warnings).toMatchObject([{ code: 'unserializable_output', params: { node_id: 'p' } }]);
    const asFunction = await new Harness().run({ registry, plan: planOf(...nodes), asFunction: true });
    expect(asFunction).toMatchObject({ status: 'failed', reason: { params: { error_type: 'unserializable_output' } } });
  });

  it('records step traces in verbose runs only', async () => {
    const traced: NodeSpec = {
      ...tensor,
      name: 'Traced',
      execute: (context) => {
        const value = context.scope.upload(vector(1, 2));
        context.step({ name: 'double', description: 'twice', scalars: { factor: 2 }, tensors: { value } });
        return { tensor: value };
      },
    };
    const [verbose, plain] = [new Harness(), new Harness()];
    const run = { registry: registryOf(traced), plan: planOf(planned('t', 'Traced')) };
    await verbose.run({ ...run, options: { verbose: true } });
    await plain.run(run);
    expect(plain.observer.last('t')?.ports?.map(({ port }) => port)).toEqual(['tensor']);
    expect(verbose.observer.last('t')?.ports).toMatchObject([
      { port: 'tensor' },
      { port: '__steps__', steps: [{ index: 0, name: 'double', scalars: { factor: 2 }, tensor_keys: ['value'] }] },
      { port: '__step__0__value', values: [1, 2] },
    ]);
  });
});
