import type { HostTensor, ModuleSpec, Scope, StepColumns, TensorRef, TensorRuntime, TrainerSpec } from '../runtime';
import { localRuntime } from './testing/local-runtime';

const MLP: ModuleSpec = {
  inputs: ['x'],
  outputs: [{ port: 'y', from: { node: 'out' } }],
  nodes: [
    { id: 'in', layer: 'Linear', params: { in_features: 4, out_features: 8 }, from: [{ input: 'x' }] },
    { id: 'act', layer: 'ReLU', params: {}, from: [{ node: 'in' }] },
    { id: 'out', layer: 'Linear', params: { in_features: 8, out_features: 3 }, from: [{ node: 'act' }] },
  ],
};

function withDropout(features: number, p: number): ModuleSpec {
  return {
    inputs: ['x'],
    outputs: [{ port: 'y', from: { node: 'out' } }],
    nodes: [
      { id: 'in', layer: 'Linear', params: { in_features: 4, out_features: features }, from: [{ input: 'x' }] },
      { id: 'drop', layer: 'Dropout', params: { p }, from: [{ node: 'in' }] },
      { id: 'out', layer: 'Linear', params: { in_features: features, out_features: 3 }, from: [{ node: 'drop' }] },
    ],
  };
}

const NORMED: ModuleSpec = {
  inputs: ['x'],
  outputs: [{ port: 'y', from: { node: 'out' } }],
  nodes: [
    { id: 'norm', layer: 'BatchNorm1d', params: { num_features: 4 }, from: [{ input: 'x' }] },
    { id: 'out', layer: 'Linear', params: { in_features: 4, out_features: 3 }, from: [{ node: 'norm' }] },
  ],
};

function numbers(tensor: HostTensor): number[] {
  return Array.from(tensor.data as unknown as ArrayLike<number | bigint>, Number);
}

const FEED = { inputs: { x: 'x' }, target: 't' };
const ROWS = 24;

describe.each([1, 2])('training with %d threads', (threads) => {
  let runtime: TensorRuntime;
  let scope: Scope;

  beforeAll(async () => {
    ({ runtime } = await localRuntime(threads));
  });
  afterAll(() => runtime.close());
  beforeEach(() => {
    scope = runtime.openScope({ label: 'training', seed: 7 });
  });
  afterEach(() => scope.close());

  const inputs = () => Float32Array.from({ length: ROWS * 4 }, (_, i) => Math.sin(i * 1.7));
  const labels = () => BigInt64Array.from({ length: ROWS }, (_, i) => BigInt(i % 3));
  const data = (inner = scope) => ({
    x: inner.upload({ shape: [ROWS, 4], dtype: 'float32', data: inputs() }),
    t: inner.upload({ shape: [ROWS], dtype: 'int64', data: labels() }),
  });
  const rows = (from: number, count: number) => Int32Array.from({ length: count }, (_, i) => (from + i) % ROWS);
  const weightsOf = async (module: Parameters<Scope['snapshot']>[0], inner = scope) => {
    const tensors = inner.tensorsOf(inner.snapshot(module));
    const entries = Object.entries(tensors).map(
      async ([name, tensor]) => [name, numbers(await inner.read(tensor))] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  };
  const trainer = (spec: ModuleSpec, options: Partial<TrainerSpec> = {}, inner = scope) => {
    const module = inner.module(spec);
    const optimizer = inner.optimizer(module, { type: 'Adam', lr: 0.05 });
    const made = inner.trainer({
      module,
      optimizer,
      loss: { type: 'CrossEntropy' },
      precision: 'fp32',
      feed: FEED,
      ...options,
    });
    return { module, optimizer, trainer: made };
  };

  it('repeats bit by bit with the seed, and differs with another', async () => {
    const losses = async (seed: number) => {
      const inner = runtime.openScope({ label: 'seeded', seed });
      const from = data(inner);
      const { trainer: made } = trainer(withDropout(16, 0.5), {}, inner);
      for (let i = 0; i < 8; i++) await made.step({ rows: rows(i * 3, 8), from });
      const { loss } = await made.collect();
      inner.close();
      return Array.from(loss);
    };
    const first = await losses(3);
    expect(await losses(3)).toEqual(first);
    expect(await losses(4)).not.toEqual(first);
  });

  it('learns, and counts steps, rates and right answers', async () => {
    const from = data();
    const { trainer: made } = trainer(MLP, { observe: { accuracy: true, gradNorm: true, updateRatio: true } });
    for (let i = 0; i < 60; i++) {
      if (i === 30) made.setHyper({ lr: 0.01 });
      await made.step({ rows: rows(0, ROWS), from });
    }
    const columns = await made.collect();
    expect(Array.from(columns.index)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    expect(columns.loss[59]!).toBeLessThan(0.7 * columns.loss[0]!);
    expect([columns.lr[29], columns.lr[30]]).toEqual([Math.fround(0.05), Math.fround(0.01)]);
    expect(columns.correct![59]!).toBeGreaterThan(columns.correct![0]!);
    expect(columns.count!.every((count) => count === ROWS)).toBe(true);
    expect(columns.updateRatio!.every((ratio) => ratio > 0)).toBe(true);
    expect(columns.gradNorm).toEqual(columns.gradNormClipped);
    expect((await made.collect()).loss).toHaveLength(0);
    await made.step({ rows: rows(0, 4), from });
    expect(Array.from((await made.collect()).index)).toEqual([60]);
  });

  it('takes rows of resident tensors and host batches alike, bytes scaled by affine', async () => {
    const bytes = Uint8Array.from({ length: ROWS * 4 }, (_, i) => (i * 37) % 256);
    const affine = { x: { scale: 1 / 255, shift: -0.5 } };
    const run = async (
      feed: (made: ReturnType<Scope['trainer']>) => Promise<unknown>,
      scaled: boolean,
    ): Promise<StepColumns> => {
      const inner = runtime.openScope({ label: 'feeds', seed: 1 });
      const { trainer: made } = trainer(MLP, { feed: { ...FEED, ...(scaled ? { affine } : {}) } }, inner);
      await feed(made);
      const columns = await made.collect();
      inner.close();
      return columns;
    };
    const picked = rows(5, 6);
    const pick = (width: number) =>
      Array.from(picked).flatMap((row) => Array.from({ length: width }, (_, k) => row * width + k));
    const t = scope.upload({ shape: [ROWS], dtype: 'uint8', data: Uint8Array.from(labels(), Number) });
    const resident = await run(
      (made) =>
        made.step({
          rows: picked,
          from: { x: scope.upload({ shape: [ROWS, 4], dtype: 'uint8', data: bytes.slice() }), t },
        }),
      true,
    );
    const host = await run(
      (made) =>
        made.step({
          host: {
            x: { shape: [6, 4], dtype: 'float32', data: Float32Array.from(pick(4), (i) => bytes[i]! / 255 - 0.5) },
            t: { shape: [6], dtype: 'int64', data: BigInt64Array.from(Array.from(picked), (row) => BigInt(row % 3)) },
          },
        }),
      false,
    );
    expect(resident.loss[0]!).toBeCloseTo(host.loss[0]!, 5);
  });

  it('gathers gradients over several steps as one large step does', async () => {
    const from = data();
    const once = trainer(MLP, { observe: { gradNorm: true } });
    const parts = trainer(MLP, { observe: { gradNorm: true } });
    await scope.restore(parts.module, scope.snapshot(once.module), { strict: true });
    for (let round = 0; round < 2; round++) {
      await once.trainer.step({ rows: rows(0, 24), from });
      for (let i = 0; i < 3; i++)
        await parts.trainer.step({ rows: rows(8 * i, 8), from }, { apply: i === 2, scale: 1 / 3 });
    }
    const [whole, split] = [await once.trainer.collect(), await parts.trainer.collect()];
    const near = (a: number[], b: number[]) => a.forEach((value, i) => expect(value).toBeCloseTo(b[i]!, 4));
    const [a, b] = [await weightsOf(once.module), await weightsOf(parts.module)];
    for (const name in a) near(a[name]!, b[name]!);
    // Losses are unscaled; norms belong to the step that updates.
    expect((split.loss[0]! + split.loss[1]! + split.loss[2]!) / 3).toBeCloseTo(whole.loss[0]!, 4);
    expect(Array.from(split.gradNorm!, Number.isNaN)).toEqual([true, true, false, true, true, false]);
    expect(split.gradNorm![2]!).toBeCloseTo(whole.gradNorm![0]!, 4);
  });

  it('forgets gathered gradients on discard', async () => {
    const from = data();
    const kept = trainer(MLP);
    const discarded = trainer(MLP);
    await scope.restore(discarded.module, scope.snapshot(kept.module), { strict: true });
    await discarded.trainer.step({ rows: rows(3, 9), from }, { apply: false });
    discarded.trainer.discard();
    for (const { trainer: made } of [kept, discarded]) await made.step({ rows: rows(0, 8), from });
    expect(await weightsOf(discarded.module)).toEqual(await weightsOf(kept.module));
  });

  it('clips the norm of all gradients together', async () => {
    const from = data();
    const step = async (clipGradNorm: number | undefined) => {
      const inner = runtime.openScope({ label: 'clip', seed: 9 });
      const module = inner.module(MLP);
      const before = await weightsOf(module, inner);
      const made = inner.trainer({
        module,
        optimizer: inner.optimizer(module, { type: 'SGD', lr: 1 }),
        loss: { type: 'CrossEntropy' },
        precision: 'fp32',
        feed: FEED,
        observe: { gradNorm: true },
        ...(clipGradNorm === undefined ? {} : { clipGradNorm }),
      });
      await made.step({ rows: rows(0, ROWS), from });
      const columns = await made.collect();
      const after = await weightsOf(module, inner);
      inner.close();
      const moved = Math.hypot(
        ...Object.keys(before).flatMap((name) => before[name]!.map((value, i) => after[name]![i]! - value)),
      );
      return { norm: columns.gradNorm![0]!, clipped: columns.gradNormClipped![0]!, moved };
    };
    const free = await step(undefined);
    const loose = await step(free.norm * 2);
    const tight = await step(free.norm / 4);
    expect(free.moved).toBeCloseTo(free.norm, 4);
    expect([loose.clipped, loose.moved]).toEqual([loose.norm, free.moved]);
    expect(tight.norm).toBeCloseTo(free.norm, 5);
    expect(tight.clipped).toBeCloseTo((free.norm / 4) * (free.norm / (free.norm + 1e-6)), 5);
    expect(tight.moved).toBeCloseTo(tight.clipped, 4);
  });

  it('draws new masks for every step, in the pool too', async () => {
    // 8 rows of 512 fit in what is drawn afresh, 24 of 2,048 do not.
    for (const [features, count] of [
      [512, 8],
      [2048, 24],
    ] as const) {
      const from = data();
      const module = scope.module(withDropout(features, 0.5));
      // A rate of 0 leaves the weights alone, so that losses differ by their masks only.
      const made = scope.trainer({
        module,
        optimizer: scope.optimizer(module, { type: 'SGD', lr: 0 }),
        loss: { type: 'CrossEntropy' },
        precision: 'fp32',
        feed: FEED,
      });
      for (let i = 0; i < 30; i++) await made.step({ rows: rows(0, count), from });
      const { loss } = await made.collect();
      expect(new Set(loss).size).toBe(30);
    }
  });

  it('moves running statistics in training, not in evaluation', async () => {
    const module = scope.module(NORMED);
    const x = scope.upload({ shape: [ROWS, 4], dtype: 'float32', data: inputs().map((value) => value + 3) });
    scope.forward(module, { x }, { mode: 'eval' });
    expect((await weightsOf(module))['norm.running_mean']).toEqual([0, 0, 0, 0]);
    scope.forward(module, { x }, { mode: 'train' });
    const moved = await weightsOf(module);
    expect(moved['norm.num_batches_tracked']).toEqual([1]);
    moved['norm.running_mean']!.forEach((value) => expect(Math.abs(value - 0.3)).toBeLessThan(0.1));
    const { trainer: made } = {
      trainer: scope.trainer({
        module,
        optimizer: scope.optimizer(module, { type: 'SGD', lr: 0 }),
        loss: { type: 'CrossEntropy' },
        precision: 'fp32',
        feed: FEED,
      }),
    };
    await made.step({ rows: rows(0, ROWS), from: { x, t: data().t } });
    expect((await weightsOf(module))['norm.num_batches_tracked']).toEqual([2]);
  });

  it('evaluates sums of losses and right answers, the same with weights fed and compiled in', async () => {
    const from = data();
    const module = scope.module(MLP);
    const evaluator = scope.evaluator({
      module,
      feed: FEED,
      precision: 'fp32',
      loss: { type: 'CrossEntropy' },
      accuracy: true,
    });
    for (let i = 0; i < 8; i++) await evaluator.step({ rows: rows(0, ROWS), from });
    const sums = await evaluator.collect();
    expect(sums.losses).toHaveLength(8);
    sums.losses.forEach((loss) => expect(loss).toBeCloseTo(sums.losses[0]!, 5));
    expect([sums.count, sums.correct % 8]).toEqual([8 * ROWS, 0]);
    const { y } = scope.forward(module, { x: from.x }, { mode: 'eval' });
    const guesses = await scope.read(scope.op('argmax', [y!], { dim: 1 }));
    const right = numbers(guesses).filter((guess, row) => guess === row % 3).length;
    expect(sums.correct).toBe(8 * right);
    expect(await evaluator.collect()).toMatchObject({ correct: 0, count: 0 });
  });

  it('compiles weights in again after they changed', async () => {
    const from = data();
    const { module, trainer: made } = trainer(MLP);
    const output = async () => numbers(await scope.read(scope.forward(module, { x: from.x }, { mode: 'eval' })['y']!));
    let before: number[] = [];
    for (let i = 0; i < 7; i++) before = await output();
    await made.step({ rows: rows(0, 8), from });
    const after = await output();
    expect(after).not.toEqual(before);
    for (let i = 0; i < 6; i++) (await output()).forEach((value, at) => expect(value).toBeCloseTo(after[at]!, 5));
  });

  it('carries an optimizer to another module of the same shapes, and starts over for others', async () => {
    const from = data();
    const first = trainer(MLP);
    for (let i = 0; i < 3; i++) await first.trainer.step({ rows: rows(0, 8), from });
    const twin = scope.module(MLP);
    await scope.restore(twin, scope.snapshot(first.module), { strict: true });
    const bound = scope.bindOptimizer(first.optimizer, twin);
    expect(bound.how).toBe('rebound');
    const second = scope.trainer({
      module: twin,
      optimizer: bound.optimizer,
      loss: { type: 'CrossEntropy' },
      precision: 'fp32',
      feed: FEED,
    });
    await first.trainer.step({ rows: rows(4, 8), from });
    await second.step({ rows: rows(4, 8), from });
    expect(await weightsOf(twin)).toEqual(await weightsOf(first.module));
    const other = scope.bindOptimizer(first.optimizer, scope.module(NORMED));
    expect(other.how).toBe('rebuilt');
    const state = await weightsOf(other.optimizer);
    expect(Object.values(state).every((values) => values.every((value) => value === 0))).toBe(true);
  });

  it('says so when there is nothing to train', async () => {
    const constant: ModuleSpec = {
      inputs: ['x'],
      outputs: [{ port: 'y', from: { node: 'r' } }],
      nodes: [{ id: 'r', layer: 'ReLU', params: {}, from: [{ input: 'x' }] }],
    };
    const still = scope.module(constant);
    const idle = scope.trainer({
      module: still,
      optimizer: scope.optimizer(still, { type: 'SGD', lr: 1 }),
      loss: { type: 'MSE' },
      precision: 'fp32',
      feed: { inputs: { x: 'x' }, target: 'x' },
    });
    const x: TensorRef = data().x;
    await idle.step({ rows: rows(0, 2), from: { x } });
    await expect(idle.collect()).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('nothing can be trained'),
    });
  });
});
