import { expectClose } from '../testing/close-to';
import { conv2d, normalised } from '../testing/reference';
import type { TensorResult } from '../testing/run-node';
import { MemoryWeights, NodeRunner, tensor } from '../testing/run-node';

let runner: NodeRunner;
beforeAll(async () => {
  runner = await NodeRunner.open();
});
afterAll(() => runner.close());

const out = (report: { outputs: Readonly<Record<string, unknown>> }): TensorResult =>
  report.outputs['tensor'] as TensorResult;
/** [N, C, H, W] of numbers that look random. */
const images = (n: number, c: number, h: number, w: number): number[][][][] =>
  Array.from({ length: n }, (_, i) =>
    Array.from({ length: c }, (_c, j) =>
      Array.from({ length: h }, (_h, k) =>
        Array.from({ length: w }, (_w, l) => Math.sin(i * 50 + j * 17 + k * 5 + l * 3)),
      ),
    ),
  );
const image = [
  [
    [
      [1, 2, 5, 6],
      [3, 4, 7, 8],
      [-1, -2, 0, 0],
      [-3, -4, 0, 9],
    ],
  ],
];

describe('nodes for images', () => {
  it.each<[string, (x: number) => number]>([
    ['relu', (x) => Math.max(0, x)],
    ['sigmoid', (x) => 1 / (1 + Math.exp(-x))],
    ['tanh', Math.tanh],
    ['leaky_relu', (x) => (x > 0 ? x : 0.01 * x)],
    ['elu', (x) => (x > 0 ? x : Math.expm1(x))],
    ['gelu', (x) => x * normalCdf(x)],
    ['silu', (x) => x / (1 + Math.exp(-x))],
    ['mish', (x) => x * Math.tanh(Math.log1p(Math.exp(x)))],
    ['selu', (x) => 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * Math.expm1(x))],
    ['hardswish', (x) => (x * Math.min(6, Math.max(0, x + 3))) / 6],
    ['prelu', (x) => (x > 0 ? x : 0.25 * x)],
  ])('Activation: %s', async (name, formula) => {
    const values = [-4, -2.5, -1, -0.1, 0, 0.1, 1, 2.5, 4];
    const report = await runner.runNode('Activation', {
      inputs: { tensor: tensor(values) },
      params: { function: name },
    });
    expectClose(out(report).values, values.map(formula), 2e-5);
  });

  it('Activation: softmax works on the last dimension, unknown ones are refused', async () => {
    const report = await runner.runNode('Activation', {
      inputs: { tensor: tensor([[0, Math.log(3)]]) },
      params: { function: 'softmax' },
    });
    expectClose(out(report).values, [[0.25, 0.75]]);
    await expect(
      runner.runNode('Activation', { inputs: { tensor: tensor([1]) }, params: { function: 'step' } }),
    ).rejects.toMatchObject({
      code: 'option_not_available',
    });
  });

  it('Conv2d: is the convolution of its own weights', async () => {
    const x = images(2, 2, 5, 6);
    const params = { in_channels: 2, out_channels: 3, kernel_size: 3, stride: 2, padding: 1 };
    const report = await runner.runNode('Conv2d', { inputs: { tensor: tensor(x) }, params, verbose: true, seed: 1 });
    const [kernels] = report.steps;
    const { weight, bias } = kernels?.tensors ?? {};
    expect(weight?.shape).toEqual([3, 2, 3, 3]);
    expect(out(report).shape).toEqual([2, 3, 3, 3]);
    expectClose(out(report).values, conv2d(x, weight?.values as number[][][][], bias?.values as number[], 2, 1));
    expect(report.steps.map((step) => step.name)).toEqual(['kernels', 'convolution']);
  });

  it('Conv2d: draws its weights from the seed, within the bound of its fan-in', async () => {
    const run = async (seed: number) =>
      (await runner.runNode('Conv2d', { inputs: { tensor: tensor(images(1, 1, 4, 4)) }, verbose: true, seed })).steps[0]
        ?.tensors['weight'];
    const first = await run(1);
    expect((await run(1))?.values).toEqual(first?.values);
    expect((await run(2))?.values).not.toEqual(first?.values);
    const numbers = (first?.values as number[][][][]).flat(3);
    expect(numbers).toHaveLength(32 * 9);
    expect(Math.max(...numbers.map(Math.abs))).toBeLessThanOrEqual(1 / 3);
    expect(Math.max(...numbers)).toBeGreaterThan(0.25);
    await expect(runner.runNode('Conv2d', { inputs: { tensor: tensor(images(1, 2, 4, 4)) } })).rejects.toMatchObject({
      code: 'shape_mismatch',
    });
  });

  it('Conv2d: keeps its weights on a canvas session, per structure', async () => {
    const weights = new MemoryWeights();
    try {
      const run = async (params: Record<string, unknown>, seed: number) =>
        out(await runner.runNode('Conv2d', { inputs: { tensor: tensor(images(1, 1, 4, 4)) }, params, weights, seed }))
          .values;
      const first = await run({ out_channels: 2 }, 1);
      expect(await run({ out_channels: 2 }, 2)).toEqual(first);
      expect(weights.modules.size).toBe(1);
      await run({ out_channels: 3 }, 3);
      expect(weights.modules.size).toBe(2);
    } finally {
      weights.close();
    }
  });

  it('MaxPool2d, AvgPool2d and AdaptiveAvgPool2d', async () => {
    const max = await runner.runNode('MaxPool2d', { inputs: { tensor: tensor(image) } });
    expect(out(max).values).toEqual([
      [
        [
          [4, 8],
          [-1, 9],
        ],
      ],
    ]);
    const overlapping = await runner.runNode('MaxPool2d', {
      inputs: { tensor: tensor(image) },
      params: { kernel_size: 3, stride: 1 },
    });
    expect(out(overlapping).values).toEqual([
      [
        [
          [7, 8],
          [7, 9],
        ],
      ],
    ]);
    const average = await runner.runNode('AvgPool2d', { inputs: { tensor: tensor(image) } });
    expectClose(out(average).values, [
      [
        [
          [2.5, 6.5],
          [-2.5, 2.25],
        ],
      ],
    ]);
    const padded = await runner.runNode('AvgPool2d', {
      inputs: { tensor: tensor([[[[4]]]]) },
      params: { kernel_size: 2, stride: 1, padding: 1 },
    });
    expectClose(out(padded).values, [
      [
        [
          [1, 1],
          [1, 1],
        ],
      ],
    ]);
    const adaptive = await runner.runNode('AdaptiveAvgPool2d', {
      inputs: { tensor: tensor(image) },
      params: { output_height: 2, output_width: 1 },
    });
    expectClose(out(adaptive).values, [[[[4.5], [-0.125]]]]);
    const whole = await runner.runNode('AdaptiveAvgPool2d', { inputs: { tensor: tensor(image) } });
    expectClose(out(whole).values, [[[[35 / 16]]]]);
  });

  it('BatchNorm2d: normalises each channel over the batch', async () => {
    const x = images(2, 3, 2, 2);
    const report = await runner.runNode('BatchNorm2d', {
      inputs: { tensor: tensor(x) },
      params: { num_features: 3 },
      verbose: true,
    });
    const channel = (values: readonly (readonly (readonly (readonly number[])[])[])[], index: number) =>
      values.flatMap((item) => item[index]?.flat() ?? []);
    for (const index of [0, 1, 2]) {
      expectClose(channel(out(report).values as number[][][][], index), normalised(channel(x, index)), 1e-4);
    }
    expect(report.steps.map((step) => step.name)).toEqual(['statistics', 'scale and shift']);
    const means = report.steps[0]?.tensors['mean']?.values as number[];
    expectClose(means[1], channel(x, 1).reduce((sum, value) => sum + value, 0) / 8);
  });

  it('Dropout: zeroes about a share p and scales up the rest', async () => {
    const ones = new Array<number>(10_000).fill(1);
    const drop = async (p: number, seed: number) =>
      out(await runner.runNode('Dropout', { inputs: { tensor: tensor(ones) }, params: { p }, seed }))
        .values as number[];
    const half = await drop(0.2, 1);
    const kept = half.filter((value) => value !== 0);
    expect(kept.length).toBeGreaterThan(7_700);
    expect(kept.length).toBeLessThan(8_300);
    expectClose(kept, new Array<number>(kept.length).fill(1.25));
    expect(await drop(0.2, 1)).toEqual(half);
    expect(await drop(0.2, 2)).not.toEqual(half);
    expect(await drop(0, 1)).toEqual(ones);
    await expect(drop(1.5, 1)).rejects.toMatchObject({ code: 'param_above_max' });
  });
});

/** The normal distribution's cumulative share (Abramowitz and Stegun 7.1.26, error below 1.5e-7). */
function normalCdf(x: number): number {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * z);
  const polynomial = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const erf = 1 - polynomial * Math.exp(-z * z);
  return x < 0 ? (1 - erf) / 2 : (1 + erf) / 2;
}
