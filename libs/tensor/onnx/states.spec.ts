import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSafetensors } from '../files';
import type { HostTensor, ModuleRef, ModuleSpec, OptimizerRef, Scope, StateRef, TensorRuntime } from '../runtime';
import { localRuntime } from './testing/local-runtime';

const SPEC: ModuleSpec = {
  inputs: ['x'],
  outputs: [{ port: 'y', from: { node: 'out' } }],
  nodes: [
    { id: 'norm', layer: 'BatchNorm1d', params: { num_features: 3 }, from: [{ input: 'x' }] },
    { id: 'out', layer: 'Linear', params: { in_features: 3, out_features: 2 }, from: [{ node: 'norm' }] },
  ],
};
const WIDER: ModuleSpec = {
  ...SPEC,
  nodes: [SPEC.nodes[0]!, { ...SPEC.nodes[1]!, layer: 'Linear', params: { in_features: 3, out_features: 4 } }],
};

function numbers(tensor: HostTensor): number[] {
  return Array.from(tensor.data as unknown as ArrayLike<number | bigint>, Number);
}

describe('states', () => {
  let runtime: TensorRuntime;
  let scope: Scope;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cdui-states-'));
    ({ runtime } = await localRuntime());
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    scope = runtime.openScope({ label: 'states', seed: 1 });
  });
  afterEach(() => scope.close());

  const contents = async (state: StateRef) => {
    const entries = Object.entries(scope.tensorsOf(state)).map(
      async ([name, tensor]) => [name, numbers(await scope.read(tensor))] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  };
  const weights = (source: ModuleRef | OptimizerRef) => contents(scope.snapshot(source));
  const trained = async () => {
    const module = scope.module(SPEC);
    const optimizer = scope.optimizer(module, { type: 'Adam', lr: 0.1 });
    const trainer = scope.trainer({
      module,
      optimizer,
      loss: { type: 'MSE' },
      precision: 'fp32',
      feed: { inputs: { x: 'x' }, target: 't' },
    });
    const from = { x: scope.op('randn', [], { shape: [8, 3] }), t: scope.op('randn', [], { shape: [8, 2] }) };
    const step = () => trainer.step({ rows: Int32Array.from({ length: 8 }, (_, i) => i), from });
    await step();
    await step();
    return { module, optimizer, step };
  };

  it('keep what was there when the weights go on changing', async () => {
    const { module, optimizer, step } = await trained();
    const states = [scope.snapshot(module), scope.snapshot(optimizer)] as const;
    const before = [await contents(states[0]), await contents(states[1])];
    await step();
    expect(await weights(module)).not.toEqual(before[0]);
    expect([await contents(states[0]), await contents(states[1])]).toEqual(before);
    expect(await scope.restore(module, states[0], { strict: true })).toEqual({ missing: [], unexpected: [] });
    await scope.restore(optimizer, states[1], { strict: true });
    expect([await weights(module), await weights(optimizer)]).toEqual(before);
    expect(before[1]!['step']).toEqual([2]);
  });

  it('make training go on as if it had not been interrupted', async () => {
    const first = await trained();
    const states = [scope.snapshot(first.module), scope.snapshot(first.optimizer)] as const;
    await first.step();
    const straight = await weights(first.module);
    await scope.restore(first.module, states[0]);
    await scope.restore(first.optimizer, states[1]);
    await first.step();
    expect(await weights(first.module)).toEqual(straight);
  });

  it('report missing and unexpected names, and refuse them when strict', async () => {
    const module = scope.module(SPEC);
    const before = await weights(module);
    const state = scope.stateFrom({
      'out.bias': scope.upload({ shape: [2], dtype: 'float64', data: Float64Array.of(1, 2) }),
      other: scope.upload({ shape: [1], dtype: 'float32', data: Float32Array.of(1) }),
    });
    await expect(scope.restore(module, state, { strict: true })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/missing: norm\.weight, .*unexpected: other/),
    });
    expect(await weights(module)).toEqual(before);
    const report = await scope.restore(module, state, { strict: false });
    expect(report.missing).toEqual(Object.keys(before).filter((name) => name !== 'out.bias'));
    expect(report.unexpected).toEqual(['other']);
    expect(await weights(module)).toEqual({ ...before, 'out.bias': [1, 2] });
  });

  it('refuse tensors of another shape by name, strict or not', async () => {
    const module = scope.module(SPEC);
    const wider = scope.snapshot(scope.module(WIDER));
    for (const strict of [true, false]) {
      await expect(scope.restore(module, wider, { strict })).rejects.toMatchObject({
        code: 'shape_mismatch',
        message: expect.stringContaining('out.weight is [4, 3], not [2, 3]'),
      });
    }
  });

  it('travel through a file with model names as they are, hash and size as reported', async () => {
    const { module, optimizer } = await trained();
    const path = join(folder, 'checkpoint.safetensors');
    const states = { model: scope.snapshot(module), optimizer: scope.snapshot(optimizer) };
    const { bytes, sha256 } = await scope.saveState(path, states, { note: 'ä' });
    const file = readFileSync(path);
    expect([file.length, createHash('sha256').update(file).digest('hex')]).toEqual([bytes, sha256]);
    const names = Object.keys(readSafetensors(path).tensors);
    expect(names).toEqual(
      expect.arrayContaining(['out.weight', 'norm.num_batches_tracked', 'optimizer/exp_avg.out.weight']),
    );
    const loaded = await scope.loadState(path);
    expect(loaded.metadata).toEqual({ note: 'ä' });
    expect(Object.keys(loaded.states)).toEqual(['model', 'optimizer']);
    expect(await contents(loaded.states['model']!)).toEqual(await weights(module));
    expect(await contents(loaded.states['optimizer']!)).toEqual(await weights(optimizer));
    const fresh = scope.module(SPEC);
    await scope.restore(fresh, loaded.states['model']!, { strict: true });
    expect(await weights(fresh)).toEqual(await weights(module));
  });

  it('say why a file cannot be written or read, and leave nothing behind', async () => {
    const state = scope.snapshot(scope.module(SPEC));
    const nowhere = join(folder, 'missing', 'a.safetensors');
    await expect(scope.saveState(nowhere, { model: state }, {})).rejects.toMatchObject({
      message: expect.stringContaining(nowhere),
    });
    await expect(scope.loadState(nowhere)).rejects.toMatchObject({ message: expect.stringContaining(nowhere) });
    const bad = join(folder, 'bad.safetensors');
    writeFileSync(bad, 'no header here');
    await expect(scope.loadState(bad)).rejects.toMatchObject({
      code: 'invalid_argument',
      detail: 'invalid_safetensors',
    });
    await scope.saveState(join(folder, 'one.safetensors'), { model: state }, {});
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });
});
