import fc from 'fast-check';
import { times } from '../../../../testing/long';
import type { ModuleSpec } from '../../runtime';
import { compiler } from '../compiler';
import { Graph } from '../graph/graph';
import { floats, numbersOf, runGraph } from '../testing/run-graph';

interface Pool {
  readonly kernel: readonly [number, number];
  readonly stride: readonly [number, number];
  readonly padding: readonly [number, number];
}

/** PyTorch's rule, in plain loops: the first maximum of each window in row-major order gets its whole gradient. */
function reference(
  x: readonly number[],
  [n, c, h, w]: readonly number[],
  d: readonly number[],
  { kernel, stride, padding }: Pool,
): number[] {
  const result = new Array<number>(x.length).fill(0);
  const oh = Math.floor((h! + 2 * padding[0] - kernel[0]) / stride[0]) + 1;
  const ow = Math.floor((w! + 2 * padding[1] - kernel[1]) / stride[1]) + 1;
  for (let plane = 0; plane < n! * c!; plane++) {
    for (let i = 0; i < oh; i++) {
      for (let j = 0; j < ow; j++) {
        let best = -1;
        for (let a = 0; a < kernel[0]; a++) {
          for (let b = 0; b < kernel[1]; b++) {
            const [row, column] = [i * stride[0] - padding[0] + a, j * stride[1] - padding[1] + b];
            if (row < 0 || row >= h! || column < 0 || column >= w!) continue;
            const at = (plane * h! + row) * w! + column;
            if (best < 0 || x[at]! > x[best]!) best = at;
          }
        }
        result[best]! += d[(plane * oh + i) * ow + j]!;
      }
    }
  }
  return result;
}

const spec = (pool: Pool, relu: boolean): ModuleSpec => ({
  inputs: ['x'],
  outputs: [{ port: 'y', from: { node: 'pool' } }],
  nodes: [
    ...(relu ? [{ id: 'relu', layer: 'ReLU', params: {}, from: [{ input: 'x' }] }] : []),
    {
      id: 'pool',
      layer: 'MaxPool2d',
      params: { kernel_size: pool.kernel, stride: pool.stride, padding: pool.padding },
      from: [relu ? { node: 'relu' } : { input: 'x' }],
    },
  ],
});

async function gradient(
  x: readonly number[],
  shape: readonly number[],
  d: (count: number) => readonly number[],
  pool: Pool,
  relu: boolean,
) {
  const g = new Graph();
  const input = g.input('x', shape);
  const context = { mode: 'train' as const, uniform: () => g.scalar(0) };
  const y = compiler.emitModule(g, spec(pool, relu), { x: input }, {}, context).outputs['y']!;
  const [dx] = compiler.gradients(g, y, [input], g.input('d', y.shape));
  const count = y.shape.reduce((a, b) => a * b, 1);
  const results = await runGraph(
    g,
    { y, dx: dx! },
    { x: floats(shape, x), d: floats(y.shape, d(count)) },
    { threads: 2, runs: 2 },
  );
  return { dx: numbersOf(results['dx']!), d: d(count) };
}

describe('the gradient of max pooling with ties', () => {
  const cases = fc.record({
    kernel: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })),
    side: fc.boolean(),
    stride: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })),
    padded: fc.boolean(),
    shape: fc.tuple(
      fc.integer({ min: 1, max: 2 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 3, max: 9 }),
      fc.integer({ min: 3, max: 9 }),
    ),
    seed: fc.integer({ min: 1, max: 2 ** 30 }),
    levels: fc.integer({ min: 1, max: 4 }),
  });

  for (const relu of [false, true]) {
    test(`goes to the first maximum of each window${relu ? ', behind a ReLU' : ''}`, async () => {
      await fc.assert(
        fc.asyncProperty(cases, async ({ kernel, side, stride, padded, shape, seed, levels }) => {
          const padding = kernel.map((k) => (padded ? Math.floor(k / 2) : 0)) as [number, number];
          const pool: Pool = side ? { kernel, stride: kernel, padding: [0, 0] } : { kernel, stride, padding };
          let state = seed;
          // Few levels, half of them not positive: ties everywhere.
          const level = () => (((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 16) % (2 * levels)) - levels;
          const x = Array.from({ length: shape.reduce((a, b) => a * b, 1) }, level);
          const before = relu ? x.map((v) => Math.max(0, v)) : x;
          const result = await gradient(
            x,
            shape,
            (count) => Array.from({ length: count }, (_, i) => i + 1),
            pool,
            relu,
          );
          const expected = reference(before, shape, result.d, pool).map((v, i) => (relu && x[i]! <= 0 ? 0 : v));
          expect(result.dx).toEqual(expected);
        }),
        { numRuns: times(25, 500) },
      );
    });
  }

  test('a diverged network gives NaN, no failure', async () => {
    const pool: Pool = { kernel: [2, 2], stride: [2, 2], padding: [0, 0] };
    const image = [...new Array<number>(12).fill(1), NaN, NaN, NaN, NaN];
    const result = await gradient(
      [...image, ...new Array<number>(16).fill(NaN)],
      [2, 1, 4, 4],
      () => new Array<number>(8).fill(NaN),
      pool,
      true,
    );
    expect(result.dx.some(Number.isNaN)).toBe(true);
  });

  test('a constant image', async () => {
    const pool: Pool = { kernel: [2, 2], stride: [2, 2], padding: [0, 0] };
    const result = await gradient(new Array<number>(16).fill(3), [1, 1, 4, 4], () => [1, 2, 3, 4], pool, false);
    expect(result.dx).toEqual([1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0]);
  });

  test('a ReLU whose result leaves the module keeps its own gradient', async () => {
    const pool: Pool = { kernel: [2, 2], stride: [2, 2], padding: [0, 0] };
    const module = spec(pool, true);
    const exposed: ModuleSpec = { ...module, outputs: [...module.outputs, { port: 'h', from: { node: 'relu' } }] };
    const g = new Graph();
    const x = g.input('x', [1, 1, 2, 2]);
    const { outputs } = compiler.emitModule(g, exposed, { x }, {}, { mode: 'train', uniform: () => g.scalar(0) });
    const [dh] = compiler.gradients(g, outputs['y']!, [outputs['h']!]);
    const results = await runGraph(g, { dh: dh! }, { x: floats([1, 1, 2, 2], [1, 4, 2, 3]) });
    expect(numbersOf(results['dh']!)).toEqual([0, 1, 0, 0]);
  });
});
