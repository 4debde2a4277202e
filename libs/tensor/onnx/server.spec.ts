import type { HostTensor, ModuleSpec, RuntimeError, Scope, TensorRef, TensorRuntime } from '../runtime';
import type { Command, ServerFrame } from '../runtime/wire';
import { compiler } from './compiler';
import { createServer } from './server';
import { localRuntime, type LocalTransport } from './testing/local-runtime';

const LINEAR: ModuleSpec = {
  inputs: ['x'],
  outputs: [{ port: 'y', from: { node: 'fc' } }],
  nodes: [{ id: 'fc', layer: 'Linear', params: { in_features: 3, out_features: 2 }, from: [{ input: 'x' }] }],
};

function numbers(tensor: HostTensor): number[] {
  return Array.from(tensor.data as unknown as ArrayLike<number | bigint>, Number);
}

describe('the embedded server', () => {
  let runtime: TensorRuntime;
  let transport: LocalTransport;
  let scope: Scope;

  beforeAll(async () => {
    ({ runtime, transport } = await localRuntime());
  });
  afterAll(() => runtime.close());
  beforeEach(() => {
    scope = runtime.openScope({ label: 'node', seed: 42, recordGradients: true });
    transport.frames.length = 0;
  });
  afterEach(() => scope.close());

  const floats = (values: readonly number[], shape: readonly number[] = [values.length], requiresGrad = false) =>
    scope.upload({ shape, dtype: 'float32', data: Float32Array.from(values) }, { requiresGrad });
  const read = async (tensor: TensorRef) => numbers(await scope.read(tensor));

  describe('eager ops', () => {
    it('compute, chain and read back without a round trip in between', async () => {
      const a = floats([1, 2, 3, 4], [2, 2]);
      const b = scope.op('matmul', [a, a], {});
      const c = scope.op('add', [b, a], { alpha: 2 });
      expect(await read(scope.op('sum', [c], { dim: 1 }))).toEqual([23, 51]);
      expect(transport.frames.filter((frame) => frame.r)).toHaveLength(1);
    });

    it('change metadata without touching the data', async () => {
      const a = floats([1, 2, 3, 4, 5, 6], [2, 1, 3]);
      const b = scope.op('unsqueeze', [scope.op('squeeze', [a], { dim: 1 })], { dim: 0 });
      expect(b.shape).toEqual([1, 2, 3]);
      const host = await scope.read(scope.op('reshape', [b], { shape: [3, -1] }));
      expect([host.shape, numbers(host)]).toEqual([
        [3, 2],
        [1, 2, 3, 4, 5, 6],
      ]);
    });

    it('give every output of an op with several', async () => {
      const [values, places] = scope.opMany('topk', [floats([3, 9, 5])], { dim: 0, k: 2 });
      expect(await read(values!)).toEqual([9, 5]);
      expect(await read(places!)).toEqual([1, 2]);
    });

    it('tell infinities in attributes apart', async () => {
      const a = floats([1]);
      expect(await read(scope.op('pad', [a], { pads: [0, 1], value: -Infinity }))).toEqual([1, -Infinity]);
      expect(await read(scope.op('pad', [a], { pads: [0, 1], value: Infinity }))).toEqual([1, Infinity]);
    });

    it('fill tensors from nothing', async () => {
      expect(await read(scope.op('full', [], { shape: [2], value: 7, dtype: 'int64' }))).toEqual([7, 7]);
      expect(await read(scope.op('full', [], { shape: [], value: 0.5, dtype: 'float32' }))).toEqual([0.5]);
      expect(await read(scope.op('arange', [], { start: 1, end: 2, step: 0.25, dtype: 'float32' }))).toEqual([
        1, 1.25, 1.5, 1.75,
      ]);
    });

    it('work on tensors without elements', async () => {
      const empty = floats([], [0, 3]);
      expect(await read(scope.op('exp', [empty], {}))).toEqual([]);
      expect(await read(scope.op('concat', [empty, floats([1, 2, 3], [1, 3])], { dim: 0 }))).toEqual([1, 2, 3]);
    });
  });

  describe('random ops', () => {
    it('repeat with the seed and go on with each draw', async () => {
      const draw = async (seed: number) => {
        const inner = runtime.openScope({ label: 'draw', seed });
        const tensors = [
          inner.op('rand', [], { shape: [3] }),
          inner.op('rand', [], { shape: [3] }),
          inner.op('randn', [], { shape: [3], mean: 10 }),
          inner.op('randint', [], { shape: [3], low: -5, high: 5 }),
          inner.op('randperm', [], { n: 6 }),
        ];
        const values = await Promise.all(tensors.map(async (tensor) => numbers(await inner.read(tensor))));
        inner.close();
        return values;
      };
      const [a, b, other] = [await draw(1), await draw(1), await draw(2)];
      expect(a).toEqual(b);
      expect(a).not.toEqual(other);
      expect(a[0]).not.toEqual(a[1]);
      expect(a[3]!.every((value) => Number.isInteger(value) && value >= -5 && value < 5)).toBe(true);
      expect([...a[4]!].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    });

    it('drop elements and scale the others', async () => {
      const ones = scope.op('full', [], { shape: [2000], value: 1, dtype: 'float32' });
      const values = await read(scope.op('dropout', [ones], { p: 0.25 }));
      const kept = values.filter((value) => value !== 0);
      expect(kept.every((value) => Math.abs(value - 4 / 3) < 1e-6)).toBe(true);
      expect(Math.abs(kept.length / 2000 - 0.75)).toBeLessThan(0.05);
    });
  });

  describe('tensors', () => {
    it('come back in ranges', async () => {
      const a = floats(
        Array.from({ length: 24 }, (_, i) => i),
        [2, 3, 4],
      );
      const part = await scope.read(a, {
        ranges: [{ index: 1 }, { start: 2, stop: 0, step: -1 }, { start: 1, step: 2 }],
      });
      expect([part.shape, numbers(part)]).toEqual([
        [2, 2],
        [21, 23, 17, 19],
      ]);
      const reversed = await scope.read(a, { ranges: [{}, { step: -2 }, { index: -1 }] });
      expect(numbers(reversed)).toEqual([11, 3, 23, 15]);
    });

    it('are summed up with what is not finite left out', async () => {
      const stats = await scope.stats(floats([0, 3, -4, NaN, Infinity, 0]));
      expect(stats).toMatchObject({ count: 6, min: -4, max: 3, mean: -0.25, nan: 1, inf: 1, norm: 5, sampled: false });
      expect(stats.zeroFraction).toBeCloseTo(1 / 3);
      expect(stats.histogram).toHaveLength(64);
      expect(stats.histogram.reduce((sum, count) => sum + count)).toBe(4);
      expect([stats.histogram[0], stats.histogram[63]]).toEqual([1, 1]);
    });

    it('count classes of whole numbers, and sample what is large', async () => {
      const labels = scope.upload({ shape: [4], dtype: 'int64', data: BigInt64Array.of(2n, 0n, 2n, 2n) });
      expect((await scope.stats(labels)).classes).toEqual({ 0: 1, 2: 3 });
      const large = await scope.stats(
        scope.op('full', [], { shape: [4 * 1024 * 1024 + 1], value: 2, dtype: 'float32' }),
      );
      expect(large).toMatchObject({ count: 4 * 1024 * 1024 + 1, sampled: true, min: 2, max: 2, mean: 2 });
    });
  });

  describe('failures', () => {
    /** Passes shape inference and fails in the kernel: an index out of range. */
    const failing = (label: string) => {
      const inner = runtime.openScope({ label });
      const values = inner.upload({ shape: [2], dtype: 'float32', data: Float32Array.of(1, 2) });
      const index = inner.upload({ shape: [1], dtype: 'int64', data: BigInt64Array.of(5n) });
      return { inner, failed: inner.op('indexSelect', [values, index], { dim: 0 }), values };
    };
    const caught = (promise: Promise<unknown>): Promise<RuntimeError> =>
      promise.then(
        () => Promise.reject(new Error('it did not fail')),
        (error: RuntimeError) => error,
      );

    it('reach whoever reads what depends on them, with the first cause, and leave the rest alone', async () => {
      const { inner, failed, values } = failing('broken');
      const dependent = inner.op('exp', [inner.op('neg', [failed], {})], {});
      const other = inner.op('neg', [values], {});
      const error = await caught(inner.read(dependent));
      expect(error).toMatchObject({ code: 'invalid_argument', op: 'indexSelect', label: 'broken' });
      expect(numbers(await inner.read(other))).toEqual([-1, -2]);
      await inner.settle();
      inner.close();
    });

    it('surface when the scope settles if nobody read them', async () => {
      const { inner } = failing('unread');
      expect(await caught(inner.settle())).toMatchObject({ code: 'invalid_argument', label: 'unread' });
      inner.close();
    });

    it('keep a trainer failed', async () => {
      const x = scope.upload({ shape: [4, 3], dtype: 'float32', data: new Float32Array(12) });
      const { inner, failed } = failing('labels');
      const module = scope.module(LINEAR);
      const trainer = scope.trainer({
        module,
        optimizer: scope.optimizer(module, { type: 'SGD', lr: 0.1 }),
        loss: { type: 'MSE' },
        precision: 'fp32',
        feed: { inputs: { x: 'x' }, target: 't' },
      });
      const bad = inner.op('reshape', [inner.op('expand', [failed], { shape: [8] })], { shape: [4, 2] });
      await trainer.step({ rows: Int32Array.of(0, 1), from: { x, t: bad } });
      expect(await caught(trainer.collect())).toMatchObject({ op: 'indexSelect', label: 'labels' });
      expect(await caught(trainer.step({ rows: Int32Array.of(0), from: { x, t: x } }))).toMatchObject({
        op: 'indexSelect',
      });
      inner.close();
    });
  });

  /** Frames that no client of ours would send. */
  it('refuses what it does not know, in words, and goes on', async () => {
    const frames: ServerFrame[] = [];
    const server = createServer({ compiler, threads: 1, post: (frame) => frames.push(frame) });
    const commands: Command[] = [
      ['gen', 1, 0],
      ['module', 2, LINEAR, 1],
      ['put', 3, [1, 3], 'float32', null, {}],
      ['forward', 2, { x: 3 }, { y: 4 }, { mode: 'eval', precision: 'bf16', grad: false, gen: 1 }],
      ['read', 4, null],
      ['neverheard' as 'sync'],
      ['read', 99, null],
      ['read', 2, null],
      ['put', 5, [2], 'float32', { blob: 7, n: 8 }, {}],
      ['op', 'rand', [], [6], { shape: [2] }, {}],
      ['forward', 2, { x: 3 }, { y: 7 }, { mode: 'eval', precision: 'fp32', grad: false, gen: 1 }],
      ['read', 7, null],
    ];
    server.handle({ s: 1, b: commands, blobs: [] });
    await server.idle();
    const errors = frames.flatMap((frame) => frame.e ?? []).map(([seq, { code }]) => [seq, code]);
    expect(errors).toEqual([
      [4, 'unsupported'],
      [6, 'protocol'],
      [7, 'handle_freed'],
      [8, 'invalid_argument'],
      [9, 'protocol'],
      [10, 'protocol'],
    ]);
    expect(frames.flatMap((frame) => frame.x ?? [])).toEqual([[5, 4]]);
    expect(frames.flatMap((frame) => frame.r ?? []).map(([seq, value]) => [seq, (value as HostTensor).shape])).toEqual([
      [12, [1, 2]],
    ]);
    expect(frames.at(-1)!.a).toBe(12);
    await server.end();
  });

  it('counts live handles and frees with the scope', async () => {
    const before = (await runtime.memory()).liveHandles;
    const inner = runtime.openScope({ label: 'inner' });
    const kept = inner.op('full', [], { shape: [1], value: 1, dtype: 'float32' });
    for (let i = 0; i < 10; i++) inner.op('neg', [kept], {});
    expect((await runtime.memory()).liveHandles).toBe(before + 11);
    inner.keep(kept);
    inner.close();
    const memory = await runtime.memory();
    expect(memory.liveHandles).toBe(before + 1);
    expect(memory.peak).toBeGreaterThanOrEqual(memory.used);
    kept.release();
    expect((await runtime.memory()).liveHandles).toBe(before);
  });

  it('goes on after its cache was released', async () => {
    const a = floats([1, 2]);
    await read(scope.op('neg', [a], {}));
    await runtime.releaseCache();
    expect(await read(scope.op('neg', [a], {}))).toEqual([-1, -2]);
  });
});
