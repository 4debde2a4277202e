import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redactor } from '@cdui/engine';
import { CollectingSinks } from '@cdui/execution/testing/collecting-sinks';
import { OutputStore } from '@cdui/outputs';
import type { GraphFile, RunOptions, WarningPayload } from '@cdui/protocol';
import { openOnnxRuntime } from '@cdui/tensor/onnx';
import type { TensorRuntime } from '@cdui/tensor/runtime';
import { InProcessExecutor } from '../client';
import { chain, until, Workplace } from '../testing/workplace';
import { moduleText } from './module-text';
import { RunRecording } from './run-recording';

const NODES = {
  Give: `return { value: params.int('amount') };`,
  Tensor: `
    const { scope } = context;
    const size = params.int('amount');
    return { value: scope.op('full', [], { shape: [size], value: 2, dtype: 'float32' }) };`,
  Pass: `return { value: inputs.raw('in') };`,
  Text: `return { value: 'the key is ' + params.text('key') };`,
  List: `return { value: Array.from({ length: params.int('amount') }, (_, item) => item === 3 ? params.text('key') : item) };`,
  Record: `
    const tensor = context.scope.op('full', [], { shape: [2], value: 1, dtype: 'float32' });
    return { value: { items: Array.from({ length: 200 }, (_, item) => item), key: params.text('key'), tensor } };`,
  Exit: `process.exit(7);`,
  Stray: `setTimeout(() => { throw new Error('stray'); }, 1); await new Promise(() => undefined);`,
  Fail: `throw new Error('as planned');`,
  Wait: `context.log('waiting'); await new Promise((go, stop) => context.signal.addEventListener('abort', () => stop(context.signal.reason)));`,
};

describe('recording outputs', () => {
  let workplace: Workplace;
  let executor: InProcessExecutor;
  let store: OutputStore;

  beforeAll(() => {
    workplace = new Workplace(NODES);
  });
  beforeEach(() => {
    executor = new InProcessExecutor({ threads: 1 });
    store = new OutputStore(join(workplace.folders.data, 'outputs'));
  });
  afterEach(async () => {
    await executor.close();
    await store.delete('r1');
  });
  afterAll(() => workplace.remove());

  async function record(graph: GraphFile, options: RunOptions = {}) {
    const { outcome, sinks } = await workplace.run(executor, graph, { options: { record_outputs: true, ...options } });
    return { outcome, warnings: sinks.warnings };
  }

  it('keeps what every port carried, and says nothing about it', async () => {
    const { outcome, warnings } = await record(
      chain(['t', 'Tensor', { amount: 3 }], ['p', 'Pass'], ['g', 'Give', { amount: 7 }]),
    );
    expect([outcome.status, warnings]).toEqual(['succeeded', []]);
    expect(await store.list('r1')).toEqual([
      { node_id: 't', port: 'value', type: 'tensor', full_shape: [3] },
      { node_id: 'p', port: 'value', type: 'tensor', full_shape: [3] },
      { node_id: 'g', port: 'value', type: 'scalar', full_shape: null },
    ]);
    expect(await store.read('r1', 't', 'value')).toMatchObject({ values: [2, 2, 2], dtype: 'float32' });
    expect(await store.read('r1', 'p', 'value', { slice: '-1' })).toMatchObject({ values: 2 });
    expect(await store.read('r1', 'g', 'value')).toMatchObject({ value: 7 });
    // One tensor that two ports carry is written once.
    expect(readdirSync(join(workplace.folders.data, 'outputs/r1')).sort()).toEqual([
      'index.json',
      'tensors-1.safetensors',
    ]);
  });

  it('keeps nothing of a run that does not ask for it', async () => {
    await workplace.run(executor, chain(['t', 'Tensor', { amount: 3 }]));
    await expect(store.list('r1')).rejects.toMatchObject({ code: 'outputs_not_found' });
  });

  it('keeps secrets out of what it writes', async () => {
    const key = 'canary-77';
    await record(
      chain(['t', 'Text', { key }], ['l', 'List', { key, amount: 10 }], ['m', 'List', { key, amount: 1_000 }]),
    );
    expect(await store.read('r1', 't', 'value')).toMatchObject({ value: 'the key is [secret]' });
    expect(await store.read('r1', 'm', 'value')).toMatchObject({
      length: 1_000,
      values: expect.arrayContaining(['[secret]', 999]),
    });
    const folder = join(workplace.folders.data, 'outputs/r1');
    for (const file of readdirSync(folder)) expect(readFileSync(join(folder, file), 'latin1')).not.toContain('canary');
  });

  it('keeps objects as text that is longer than an event shows', async () => {
    await record(chain(['o', 'Record', { key: 'canary-78' }]));
    const { repr } = (await store.read('r1', 'o', 'value')) as unknown as { readonly repr: string };
    expect(repr).toContain(',199],"key":"[secret]","tensor":"a tensor [2] of float32"}');
  });

  it('keeps what there was when a run fails', async () => {
    const { outcome } = await record(chain(['t', 'Tensor', { amount: 2 }], ['f', 'Fail'], ['g', 'Give']));
    expect(outcome.status).toBe('failed');
    expect((await store.list('r1')).map(({ node_id: node }) => node)).toEqual(['t']);
  });

  it('keeps what there was when a run is cancelled', async () => {
    const stop = new AbortController();
    const sinks = new CollectingSinks();
    const run = workplace.run(executor, chain(['t', 'Tensor', { amount: 2 }], ['w', 'Wait']), {
      sinks,
      signal: stop.signal,
      options: { record_outputs: true },
    });
    await until(sinks, () => sinks.text.includes('waiting'), run);
    stop.abort('user');
    expect((await run).outcome.status).toBe('cancelled');
    expect(await store.read('r1', 't', 'value')).toMatchObject({ values: [2, 2] });
  });

  it.each(['Exit', 'Stray'])(
    'keeps nothing of a run whose thread is lost (%s), and nothing is left after a sweep',
    async (type) => {
      const { outcome } = await record(chain(['t', 'Tensor', { amount: 2 }], ['x', type]));
      expect(outcome.status).toBe('failed');
      await expect(store.list('r1')).rejects.toMatchObject({ code: 'outputs_not_found' });
      await store.sweep();
      expect(readdirSync(join(workplace.folders.data, 'outputs'))).toEqual([]);
    },
  );

  it('keeps steps of verbose runs and gradients of backward runs', async () => {
    const graph: GraphFile = {
      nodes: [
        { id: 'start', type: 'Start' },
        {
          id: 'x',
          type: 'TensorInput',
          data: {
            params: {
              value_mode: 'explicit',
              shape: '2,2',
              values: [
                [1, 2],
                [3, 4],
              ],
            },
          },
        },
        { id: 'fc', type: 'Linear', data: { params: { in_features: 2, out_features: 1 } } },
        { id: 'end', type: 'BackwardOnce' },
      ],
      edges: [
        { source: 'start', sourceHandle: 'trigger', target: 'x', type: 'trigger' },
        { source: 'x', sourceHandle: 'tensor', target: 'fc', targetHandle: 'tensor' },
        { source: 'fc', sourceHandle: 'tensor', target: 'end', targetHandle: 'tensor' },
      ],
    };
    expect((await record(graph, { verbose: true, seed: 1 })).outcome.error).toBeNull();
    const [product] = await store.steps('r1', 'fc');
    expect(product).toMatchObject({ index: 0, name: 'matrix product', tensor_keys: ['input', 'weight', 'product'] });
    expect(await store.read('r1', 'fc', '__step__0__input')).toMatchObject({
      values: [
        [1, 2],
        [3, 4],
      ],
    });
    expect(await store.gradients('r1', 'fc')).toEqual([
      { port: 'tensor', kind: 'port', has_grad: true, health: expect.objectContaining({ status: 'healthy' }) },
      { port: 'weight', kind: 'weight', has_grad: true, health: expect.objectContaining({ status: 'healthy' }) },
      { port: 'bias', kind: 'weight', has_grad: true, health: expect.objectContaining({ norm: 2 }) },
    ]);
    expect(await store.read('r1', 'fc', '__weight_grad__weight')).toMatchObject({ values: [[4, 6]] });
  });

  it('warns of what cannot be written, and the run goes on', async () => {
    const outputs = join(workplace.folders.data, 'outputs');
    rmSync(outputs, { recursive: true, force: true });
    writeFileSync(outputs, 'in the way');
    const { outcome, warnings } = await record(chain(['t', 'Tensor', { amount: 3 }]));
    rmSync(outputs);
    expect(outcome.status).toBe('succeeded');
    expect(warnings).toMatchObject([
      { code: 'outputs_not_recorded', params: { reason: expect.stringContaining('r1') } },
    ]);
  });
});

describe('RunRecording', () => {
  let root: string;
  let runtime: TensorRuntime;
  const warnings: WarningPayload[] = [];

  beforeAll(async () => {
    runtime = await openOnnxRuntime({ device: 'cpu', threads: 1 });
  });
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'run-recording-'));
    warnings.length = 0;
  });
  afterEach(async () => {
    expect((await runtime.memory()).liveHandles).toBe(0);
    rmSync(root, { recursive: true });
  });
  afterAll(() => runtime.close());

  /** Records tensors of so many floats, one after the other, each of a node of its own. */
  async function record(sizes: readonly number[], limits: { readonly maxBytes?: number; readonly heldBytes?: number }) {
    const redactor = new Redactor([]);
    const warn = (warning: WarningPayload): void => void warnings.push(warning);
    const recording = new RunRecording({ root, runId: 'r1', runtime, redactor, warn, maxBytes: 2 ** 31, ...limits });
    let most = 0;
    for (const [at, size] of sizes.entries()) {
      const scope = runtime.openScope({ label: `n${at}` });
      const value = scope.op('full', [], { shape: [size], value: at, dtype: 'float32' });
      const facts = {
        port: 'out',
        kind: 'tensor',
        shape: [size],
        dtype: 'float32',
        min: 0,
        max: 0,
        mean: 0,
        values: null,
      } as const;
      await recording.record(`n${at}`, [{ facts, value }], scope);
      scope.close();
      most = Math.max(most, (await runtime.memory()).liveHandles);
    }
    await recording.finish();
    return { store: new OutputStore(root), most };
  }

  it('holds no more tensors than its budget, and reads back all of them', async () => {
    const { store, most } = await record(Array<number>(20).fill(1_000), { heldBytes: 12_000 });
    expect(most).toBeLessThanOrEqual(3);
    expect(readdirSync(join(root, 'r1'))).toHaveLength(1 + 7);
    for (let at = 0; at < 20; at += 1)
      expect(await store.read('r1', `n${at}`, 'out', { slice: '-1' })).toMatchObject({ values: at });
  });

  it('writes a tensor that nodes pass on once, also when it was written already', async () => {
    const warn = (warning: WarningPayload): void => void warnings.push(warning);
    const options = { root, runId: 'r1', runtime, redactor: new Redactor([]), warn, maxBytes: 2 ** 31, heldBytes: 1 };
    const recording = new RunRecording(options);
    const scope = runtime.openScope({ label: 'test' });
    const value = scope.op('full', [], { shape: [2], value: 3, dtype: 'float32' });
    const facts = {
      port: 'out',
      kind: 'tensor',
      shape: [2],
      dtype: 'float32',
      min: 3,
      max: 3,
      mean: 3,
      values: null,
    } as const;
    for (const node of ['a', 'b']) await recording.record(node, [{ facts, value }], scope);
    scope.close();
    await recording.finish();
    expect(readdirSync(join(root, 'r1')).sort()).toEqual(['index.json', 'tensors-1.safetensors']);
    for (const node of ['a', 'b'])
      expect(await new OutputStore(root).read('r1', node, 'out')).toMatchObject({ values: [3, 3] });
  });

  it('leaves out what is larger than all runs together may be, and says how much', async () => {
    const { store } = await record([200, 100, 200, 10], { maxBytes: 1_300 });
    expect((await store.list('r1')).map(({ node_id: node }) => node)).toEqual(['n0', 'n1', 'n3']);
    expect(warnings).toMatchObject([
      { code: 'outputs_over_limit', count: 1, detail: expect.stringContaining('MAX_MB') },
    ]);
  });

  it('goes on after a batch that could not be written, and counts what it lost', async () => {
    const redactor = new Redactor([]);
    const warn = (warning: WarningPayload): void => void warnings.push(warning);
    const recording = new RunRecording({ root, runId: 'r1', runtime, redactor, warn, maxBytes: 2 ** 31, heldBytes: 1 });
    const facts = {
      port: 'out',
      kind: 'tensor',
      shape: [2],
      dtype: 'float32',
      min: 0,
      max: 0,
      mean: 0,
      values: null,
    } as const;
    for (const node of ['a', 'b']) {
      const scope = runtime.openScope({ label: node });
      // A name that is taken by a folder cannot be written.
      const [partial] = readdirSync(root);
      if (node === 'a') mkdirSync(join(root, partial!, 'tensors-1.safetensors'));
      const value = scope.op('full', [], { shape: [2], value: 1, dtype: 'float32' });
      await recording.record(node, [{ facts, value }], scope);
      scope.close();
    }
    await recording.finish();
    expect((await new OutputStore(root).list('r1')).map(({ node_id: node }) => node)).toEqual(['b']);
    expect(warnings).toMatchObject([{ code: 'outputs_not_recorded', params: { count: 1 } }]);
  });
});

describe('moduleText', () => {
  it('shows one layer as a call, several one on a line, and never more than it may', () => {
    const linear = (id: string) => ({
      id,
      layer: 'Linear',
      params: { in_features: 2, out_features: 1 },
      from: [{ input: 'x' }],
    });
    const spec = (...nodes: ReturnType<typeof linear>[]) => ({ inputs: ['x'], outputs: [], nodes });
    expect(moduleText(spec(linear('a')), 100)).toBe('Linear(in_features=2, out_features=1)');
    expect(
      moduleText(
        {
          ...spec(linear('a')),
          nodes: [linear('a'), { id: 'r', op: 'activation', attrs: { function: 'relu' }, from: [{ node: 'a' }] }],
        },
        200,
      ),
    ).toBe('SequentialModel(\n  (a): Linear(in_features=2, out_features=1)\n  (r): activation(function="relu")\n)');
    expect(moduleText(spec(...Array.from({ length: 1_000 }, (_, at) => linear(String(at)))), 100)).toHaveLength(100);
  });
});
