import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ModuleSpec, Scope, TensorRuntime } from '../runtime';
import { openOnnxRuntime } from '.';

/** What resident memory may grow by after the first thousand. */
const BOUND = 20 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const CNN: ModuleSpec = {
  inputs: ['x'],
  outputs: [{ port: 'y', from: { node: 'fc' } }],
  nodes: [
    {
      id: 'conv',
      layer: 'Conv2d',
      params: { in_channels: 1, out_channels: 4, kernel_size: 3 },
      from: [{ input: 'x' }],
    },
    { id: 'relu', layer: 'ReLU', params: {}, from: [{ node: 'conv' }] },
    { id: 'flat', layer: 'Flatten', params: {}, from: [{ node: 'relu' }] },
    { id: 'drop', layer: 'Dropout', params: { p: 0.2 }, from: [{ node: 'flat' }] },
    { id: 'fc', layer: 'Linear', params: { in_features: 144, out_features: 10 }, from: [{ node: 'drop' }] },
  ],
};

describe('resident memory', () => {
  let runtime: TensorRuntime;

  beforeAll(async () => {
    runtime = await openOnnxRuntime({ device: 'cpu', threads: 2 });
  });
  afterAll(() => runtime.close());

  /** Resident memory now. This thread's garbage is collected first: it is the test's, not the runtime's. */
  const used = async () => {
    collect();
    return (await runtime.memory()).used;
  };

  it('stays level over 5,000 training steps', async () => {
    const scope = runtime.openScope({ label: 'steps', seed: 1 });
    const module = scope.module(CNN);
    const from = {
      x: scope.op('randn', [], { shape: [64, 1, 8, 8] }),
      t: scope.op('randint', [], { shape: [64], low: 0, high: 10 }),
    };
    const trainer = scope.trainer({
      module,
      optimizer: scope.optimizer(module, { type: 'Adam', lr: 1e-3 }),
      loss: { type: 'CrossEntropy' },
      precision: 'fp32',
      feed: { inputs: { x: 'x' }, target: 't' },
    });
    const train = async (steps: number) => {
      for (let i = 0; i < steps; i++) {
        // Every tenth batch is a short one, as at the end of an epoch.
        const count = i % 10 === 9 ? 5 : 16;
        await trainer.step({ rows: Int32Array.from({ length: count }, (_, k) => (i + k) % 64), from });
        if (i % 100 === 99) await trainer.collect();
      }
    };
    await train(1000);
    const before = await used();
    await train(4000);
    expect((await used()) - before).toBeLessThan(BOUND);
    scope.close();
  }, 120_000);

  it('stays level over 5,000 eager ops of changing shapes', async () => {
    const chain = (scope: Scope, i: number) => {
      const x = scope.op('full', [], { shape: [1 + (i % 97), 1 + (i % 89)], value: i, dtype: 'float32' });
      return scope.op(i % 2 ? 'exp' : 'neg', [x], {});
    };
    const run = async (first: number, count: number) => {
      for (let i = first; i < first + count; i += 50) {
        const scope = runtime.openScope({ label: 'ops' });
        for (let k = i; k < i + 50; k++) chain(scope, k);
        await scope.settle();
        scope.close();
      }
    };
    await run(0, 1000);
    const before = await used();
    await run(1000, 4000);
    expect((await used()) - before).toBeLessThan(BOUND);
  }, 120_000);
});
