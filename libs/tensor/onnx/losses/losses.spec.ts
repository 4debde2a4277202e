import { inferOp, type HostTensor, type LossSpec } from '../../runtime';
import { Graph } from '../graph/graph';
import { checkGradients, smooth } from '../testing/check-gradients';
import { floats, longs, numbersOf, runGraph } from '../testing/run-graph';
import { emitLoss } from './losses';

async function evaluate(spec: LossSpec, output: HostTensor, target: HostTensor): Promise<number[]> {
  const g = new Graph();
  const loss = emitLoss(g, spec, g.input('o', output.shape, output.dtype), g.input('t', target.shape, target.dtype));
  return numbersOf((await runGraph(g, { loss }, { o: output, t: target }))['loss']!);
}

/** Gradients of the output, and of the target where it is real. */
async function check(spec: LossSpec, output: HostTensor, target: HostTensor): Promise<void> {
  await checkGradients({
    inputs: [output, target],
    build: (g, [o, t]) => {
      const loss = emitLoss(g, spec, o!, t!);
      expect({ shape: loss.shape, dtype: loss.dtype }).toEqual(inferOp('loss', [output, target], spec).outputs[0]);
      return loss;
    },
  });
}

const reductions = ['mean', 'sum', 'none'] as const;

describe('CrossEntropy', () => {
  interface Options {
    readonly weight?: readonly number[];
    readonly ignoreIndex?: number;
    readonly labelSmoothing?: number;
  }

  /** PyTorch's definition for logits [N, C], in double precision. */
  function reference(logits: readonly number[][], target: readonly number[], options: Options) {
    const { weight, ignoreIndex = -100, labelSmoothing = 0 } = options;
    let divisor = 0;
    const each = logits.map((row, i) => {
      const class_ = target[i]!;
      if (class_ === ignoreIndex) return 0;
      const total = Math.log(row.reduce((sum, v) => sum + Math.exp(v), 0));
      const weightOf = (c: number) => weight?.[c] ?? 1;
      divisor += weightOf(class_);
      const direct = weightOf(class_) * (total - row[class_]!);
      const spread = row.reduce((sum, v, c) => sum + weightOf(c) * (total - v), 0);
      return (1 - labelSmoothing) * direct + (labelSmoothing / row.length) * spread;
    });
    const sum = each.reduce((a, b) => a + b, 0);
    return { none: each, sum: [sum], mean: [sum / divisor] };
  }

  const options: readonly Options[] = [
    {},
    { ignoreIndex: 2 },
    { weight: [0.5, 2, 1, 0.25] },
    { labelSmoothing: 0.2 },
    { weight: [0.5, 2, 1, 0.25], ignoreIndex: 1, labelSmoothing: 0.3 },
  ];
  for (const option of options) {
    for (const reduction of reductions) {
      test(`${JSON.stringify(option)} ${reduction}`, async () => {
        const logits = smooth([6, 4], 3, -3, 3);
        const classes = [0, 3, 1, 2, 1, 0];
        const rows = Array.from({ length: 6 }, (_, i) => numbersOf(logits).slice(i * 4, i * 4 + 4));
        const expected = reference(rows, classes, option)[reduction];
        const spec: LossSpec = { type: 'CrossEntropy', reduction, ...option };
        const actual = await evaluate(spec, logits, longs([6], classes));
        expect(actual.length).toBe(expected.length);
        actual.forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 5));
        await check(spec, logits, longs([6], classes));
      });
    }
  }

  test('the default ignored class, -100, gets no gradient', async () => {
    const target = longs([3], [1, -100, 0]);
    expect(await evaluate({ type: 'CrossEntropy', reduction: 'none' }, smooth([3, 4], 1), target)).toMatchObject({
      1: 0,
    });
    await check({ type: 'CrossEntropy' }, smooth([3, 4], 1), target);
  });

  test('images, single samples, int32 and uint8 classes', async () => {
    await check(
      { type: 'CrossEntropy', labelSmoothing: 0.1 },
      smooth([2, 3, 2, 2], 1),
      longs([2, 2, 2], [0, 1, 2, 0, 1, 1, 2, 2]),
    );
    await check({ type: 'CrossEntropy', reduction: 'none' }, smooth([2, 3, 2], 1), longs([2, 2], [0, 1, 2, 0]));
    await check({ type: 'CrossEntropy' }, smooth([4], 1), longs([], [2]));
    const small: HostTensor = { shape: [2], dtype: 'int32', data: Int32Array.of(1, 0) };
    const bytes: HostTensor = { shape: [2], dtype: 'uint8', data: Uint8Array.of(1, 0) };
    const same = await evaluate({ type: 'CrossEntropy' }, smooth([2, 3], 1), longs([2], [1, 0]));
    expect(await evaluate({ type: 'CrossEntropy' }, smooth([2, 3], 1), small)).toEqual(same);
    expect(await evaluate({ type: 'CrossEntropy' }, smooth([2, 3], 1), bytes)).toEqual(same);
  });

  test('class probabilities', async () => {
    const target = floats([2, 3], [0.2, 0.3, 0.5, 1, 0, 0]);
    for (const reduction of reductions) {
      await check(
        { type: 'CrossEntropy', reduction, labelSmoothing: 0.1, weight: [1, 2, 0.5] },
        smooth([2, 3], 1),
        target,
      );
    }
    // All on one class is the same as its index.
    const hard = await evaluate({ type: 'CrossEntropy' }, smooth([2, 3], 1), floats([2, 3], [0, 1, 0, 1, 0, 0]));
    expect(hard[0]).toBeCloseTo(
      (await evaluate({ type: 'CrossEntropy' }, smooth([2, 3], 1), longs([2], [1, 0])))[0]!,
      6,
    );
  });

  test('a class out of range fails, above and below', async () => {
    for (const bad of [3, -1]) {
      await expect(evaluate({ type: 'CrossEntropy' }, smooth([1, 3], 1), longs([1], [bad]))).rejects.toThrow(
        /bounds|range/i,
      );
    }
  });
});

describe('MSE', () => {
  for (const reduction of reductions) {
    test(reduction, async () => {
      const [a, b] = [smooth([3, 4], 1), smooth([3, 4], 2)];
      const squares = numbersOf(a).map((value, i) => (value - numbersOf(b)[i]!) ** 2);
      const sum = squares.reduce((x, y) => x + y);
      const expected = { none: squares, sum: [sum], mean: [sum / 12] }[reduction];
      const actual = await evaluate({ type: 'MSE', reduction }, a, b);
      actual.forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 5));
      await check({ type: 'MSE', reduction }, a, b);
    });
  }

  test('broadcasts, and takes no dimensions', async () => {
    await check({ type: 'MSE' }, smooth([3, 4], 1), smooth([4], 2));
    await check({ type: 'MSE', reduction: 'none' }, smooth([3, 1], 1), smooth([3, 4], 2));
    for (const reduction of reductions) await check({ type: 'MSE', reduction }, smooth([], 1), smooth([], 2));
  });
});

describe('BCEWithLogits', () => {
  for (const reduction of reductions) {
    test(reduction, async () => {
      const [x, t] = [smooth([3, 4], 1, -4, 4), smooth([3, 4], 2, 0, 1)];
      const posWeight = [0.5, 2, 3, 1];
      const weight = [1, 0.5, 2, 1];
      const each = numbersOf(x).map((v, i) => {
        const [target, positive] = [numbersOf(t)[i]!, posWeight[i % 4]!];
        const p = 1 / (1 + Math.exp(-v));
        return -weight[i % 4]! * (positive * target * Math.log(p) + (1 - target) * Math.log(1 - p));
      });
      const sum = each.reduce((a, b) => a + b);
      const expected = { none: each, sum: [sum], mean: [sum / 12] }[reduction];
      const spec: LossSpec = { type: 'BCEWithLogits', reduction, posWeight, weight };
      const actual = await evaluate(spec, x, t);
      actual.forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 4));
      await check(spec, x, t);
      await check({ type: 'BCEWithLogits', reduction }, x, t);
    });
  }

  test('large logits do not overflow', async () => {
    const spec: LossSpec = { type: 'BCEWithLogits', reduction: 'none' };
    expect(await evaluate(spec, floats([4], [200, -200, 200, -200]), floats([4], [1, 0, 0, 1]))).toEqual([
      0, 0, 200, 200,
    ]);
  });
});

test('a loss that is not there, or without target, says so', () => {
  const g = new Graph();
  const x = g.input('x', [2]);
  expect(() => emitLoss(g, { type: 'L1' }, x, x)).toThrow(expect.objectContaining({ code: 'unsupported' }));
  expect(() => emitLoss(g, { type: 'MSE' }, x, null)).toThrow('needs a target');
});
