import { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { encodeGraph } from '../graph/encode';
import { add, cast, detach, exp, greater, mul, relu, sigmoid } from '../ops/elementwise';
import { emitOp } from '../ops/emit';
import { matmul } from '../ops/matmul';
import { sum } from '../ops/reduce';
import { reshape } from '../ops/shape';
import { floats, numbersOf, runGraph } from '../testing/run-graph';
import { differentiable } from './differentiable';
import { gradients } from './gradients';

async function values(
  g: Graph,
  outputs: Record<string, Value>,
  x: readonly number[],
): Promise<Record<string, number[]>> {
  const results = await runGraph(g, outputs, { x: floats([x.length], x) });
  return Object.fromEntries(Object.entries(results).map(([name, tensor]) => [name, numbersOf(tensor)]));
}

describe('reverse mode', () => {
  test('sums what several uses contribute', async () => {
    const g = new Graph();
    const x = g.input('x', [2]);
    const y = add(g, add(g, mul(g, x, x), mul(g, x, 3)), x);
    const [dx] = gradients(g, y, [x]);
    expect((await values(g, { dx: dx! }, [1, 2]))['dx']).toEqual([6, 8]);
  });

  test('weighs by the seed, and takes the sum without one', async () => {
    const g = new Graph();
    const x = g.input('x', [2]);
    const y = mul(g, x, x);
    const [weighted] = gradients(g, y, [x], g.numbers('float32', [2], [10, 100]));
    const [plain] = gradients(g, y, [x]);
    expect(await values(g, { weighted: weighted!, plain: plain! }, [1, 2])).toEqual({
      weighted: [20, 400],
      plain: [2, 4],
    });
  });

  test('is null for what the result does not depend on, or only through comparisons, casts of them, or detach', () => {
    const g = new Graph();
    const [x, other] = [g.input('x', [2]), g.input('other', [2])];
    const y = add(g, mul(g, cast(g, greater(g, x, 0), 'float32'), other), detach(g, x));
    const [dx, dOther, dInts] = gradients(g, y, [x, other, g.input('i', [2], 'int64')]);
    expect(dx).toBeNull();
    expect(dOther).not.toBeNull();
    expect(dInts).toBeNull();
  });

  test('gives gradients of inner values and of the result itself', async () => {
    const g = new Graph();
    const x = g.input('x', [2]);
    const h = mul(g, x, 2);
    const y = exp(g, h);
    const [dx, dh, dy] = gradients(g, y, [x, h, y]);
    const found = await values(g, { dx: dx!, dh: dh!, dy: dy! }, [0, 0]);
    expect(found).toEqual({ dx: [2, 2], dh: [1, 1], dy: [1, 1] });
  });

  test('tells a tensor from one that only repeats it', async () => {
    const g = new Graph();
    const x = g.input('x', [2]);
    const context = { mode: 'train' as const, uniform: () => x };
    const [same] = emitOp(g, 'reshape', [x], { shape: [2] }, context);
    const [dx, dSame] = gradients(g, add(g, x, same!), [x, same!]);
    expect(await values(g, { dx: dx!, dSame: dSame! }, [0, 0])).toEqual({ dx: [2, 2], dSame: [1, 1] });
  });

  test('makes only the gradients asked for', () => {
    const g = new Graph();
    const [a, b] = [g.input('a', [4, 4]), g.input('b', [4, 4])];
    const y = sum(g, matmul(g, a, b), [0, 1]);
    const [db] = gradients(g, y, [b]);
    expect(encodeGraph(g, { db: db! }).inputs).toEqual(['a']);
  });

  test('jumps over the inside of a composite', async () => {
    const g = new Graph();
    const x = g.input('x', [1]);
    const y = differentiable(mul(g, sigmoid(g, x), 5), [x], (d) => [mul(g, d, 7)]);
    const [dx] = gradients(g, y, [x]);
    expect((await values(g, { dx: dx! }, [0]))['dx']).toEqual([7]);
  });

  test('goes through 20,000 recorded ops without running out of stack', () => {
    const g = new Graph();
    const x = g.input('x', [1]);
    let y: Value = x;
    for (let i = 0; i < 20_000; i++) y = relu(g, y);
    const [dx] = gradients(g, y, [x]);
    expect(encodeGraph(g, { dx: dx! }).nodes).toBeGreaterThan(20_000);
  });

  test('refuses a result that is no real number', () => {
    const g = new Graph();
    const x = g.input('x', [1], 'int64');
    expect(() => gradients(g, reshape(g, x, []), [x])).toThrow('floating');
  });
});
