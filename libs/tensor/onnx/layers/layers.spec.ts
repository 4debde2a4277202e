import fc from 'fast-check';
import { times } from '../../../../testing/long';
import { layerDef, type HostTensor, type ModuleSpec } from '../../runtime';
import { compiler, type EmitContext } from '../compiler';
import { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { apart, checkGradients, smooth } from '../testing/check-gradients';
import { floats, longs, numbersOf, runGraph } from '../testing/run-graph';

type Params = Readonly<Record<string, unknown>>;

function context(g: Graph, mode: 'train' | 'eval'): EmitContext {
  return { mode, uniform: (count) => g.input(`uniform${count}`, [count]) };
}

function single(layer: string, params: Params, inputs: number, outputs = 1): ModuleSpec {
  const ports = Array.from({ length: inputs }, (_, i) => `x${i}`);
  return {
    inputs: ports,
    outputs: Array.from({ length: outputs }, (_, output) => ({ port: `y${output}`, from: { node: 'l', output } })),
    nodes: [{ id: 'l', layer, params, from: ports.map((input) => ({ input })) }],
  };
}

/** Values for a layer's weights; buffers are positive, as variances are. */
function weightsOf(
  layer: string,
  params: Params,
  seed: number,
): { name: string; value: HostTensor; trainable: boolean }[] {
  const def = layerDef(layer);
  return def.weights(def.normalise(params)).map(({ name, shape, dtype, trainable }, i) => ({
    name: `l.${name}`,
    value:
      dtype === 'int64' ? longs(shape, [4]) : trainable ? smooth(shape, seed + i) : smooth(shape, seed + i, 0.5, 1.5),
    trainable,
  }));
}

interface CheckOptions {
  readonly mode?: 'train' | 'eval';
  /** How many of the layer's outputs take part. */
  readonly outputs?: number;
  readonly feeds?: Readonly<Record<string, HostTensor>>;
}

/** Gradients of all inputs and weights of one layer. */
async function check(
  layer: string,
  params: Params,
  inputs: readonly HostTensor[],
  { mode = 'train', outputs = 1, feeds = {} }: CheckOptions = {},
): Promise<void> {
  const weights = weightsOf(layer, params, 77);
  const all = [...inputs, ...weights.map(({ value }) => value)];
  const wanted = all.flatMap(({ dtype }, i) =>
    dtype === 'float32' && (i < inputs.length || weights[i - inputs.length]!.trainable) ? [i] : [],
  );
  const def = layerDef(layer);
  const expected = def.infer(inputs, def.normalise(params), mode);
  await checkGradients({
    inputs: all,
    wanted,
    feeds,
    build: (g, values) => {
      const named = Object.fromEntries(weights.map(({ name }, i) => [name, values[inputs.length + i]!]));
      const ports = Object.fromEntries(inputs.map((_, i) => [`x${i}`, values[i]!]));
      const emitted = compiler.emitModule(
        g,
        single(layer, params, inputs.length, outputs),
        ports,
        named,
        context(g, mode),
      );
      const results = Object.values(emitted.outputs);
      expect(results.map(({ shape, dtype }) => ({ shape, dtype }))).toEqual(expected.slice(0, outputs));
      return results;
    },
  });
}

describe('gradients of layers', () => {
  test('Conv2d with every kind of padding, groups, no bias', async () => {
    await check('Conv2d', { in_channels: 2, out_channels: 3, kernel_size: [4, 3], padding: 'same', dilation: [1, 2] }, [
      smooth([2, 2, 6, 7], 1),
    ]);
    await check('Conv2d', { in_channels: 8, out_channels: 2, kernel_size: 4, padding: 'same' }, [
      smooth([1, 8, 5, 5], 1),
    ]);
    await check('Conv2d', { in_channels: 4, out_channels: 8, kernel_size: 3, groups: 4, padding: 1, bias: false }, [
      smooth([2, 4, 5, 5], 1),
    ]);
    await check('Conv2d', { in_channels: 2, out_channels: 2, kernel_size: 1 }, [smooth([2, 2, 3, 3], 1)]);
    await check('Conv2d', { in_channels: 2, out_channels: 4, kernel_size: 1, groups: 2, stride: 2 }, [
      smooth([2, 2, 4, 5], 1),
    ]);
    await check('Conv2d', { in_channels: 1, out_channels: 2, kernel_size: 2, padding: 3 }, [smooth([1, 1, 3, 3], 1)]);
  });

  test('pools', async () => {
    await check('MaxPool2d', { kernel_size: 2 }, [apart([2, 2, 5, 6], 1, 0.05)]);
    await check('MaxPool2d', { kernel_size: 3, stride: 2, padding: 1 }, [apart([1, 2, 7, 7], 1, 0.05)]);
    await check('AvgPool2d', { kernel_size: 3, stride: 2, padding: 1, count_include_pad: false }, [
      smooth([1, 2, 6, 7], 1),
    ]);
    await check('AdaptiveAvgPool2d', { output_size: [3, null] }, [smooth([1, 2, 5, 4], 1)]);
  });

  test('Linear on any number of dimensions', async () => {
    for (const lead of [[], [3], [2, 3], [2, 1, 3]]) {
      await check('Linear', { in_features: 4, out_features: 2 }, [smooth([...lead, 4], 1)]);
    }
    await check('Linear', { in_features: 4, out_features: 2, bias: false }, [smooth([3, 4], 1)]);
  });

  test('Embedding adds up repeated rows, without the padding row', async () => {
    await check('Embedding', { num_embeddings: 5, embedding_dim: 3 }, [longs([2, 3], [0, 4, 4, 1, 0, 4])]);
  });

  for (const mode of ['train', 'eval'] as const) {
    test(`batch norms in ${mode} mode`, async () => {
      await check('BatchNorm2d', { num_features: 3 }, [smooth([3, 3, 2, 4], 1)], { mode });
      await check('BatchNorm2d', { num_features: 2, affine: false, eps: 0.1 }, [smooth([3, 2, 2, 2], 1)], { mode });
      await check('BatchNorm1d', { num_features: 3 }, [smooth([4, 3], 1)], { mode });
      await check('BatchNorm1d', { num_features: 3 }, [smooth([4, 3, 2], 1)], { mode });
    });
  }

  test('LayerNorm over any trailing dimensions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 2, max: 4 }), { minLength: 1, maxLength: 3 }),
        fc.nat(2),
        fc.boolean(),
        fc.boolean(),
        async (shape, from, elementwise_affine, bias) => {
          const normalized_shape = shape.slice(Math.min(from, shape.length - 1));
          await check('LayerNorm', { normalized_shape, elementwise_affine, bias, eps: 0.01 }, [smooth(shape, 3)]);
        },
      ),
      { numRuns: times(8, 60) },
    );
  });

  test('Dropout scales what it keeps', async () => {
    const feeds = { uniform12: floats([12], [0.1, 0.3, 0.5, 0.7, 0.29, 0.31, 0.9, 0, 0.99, 0.3, 0.2, 0.6]) };
    await check('Dropout', { p: 0.3 }, [smooth([3, 4], 1)], { feeds });
    await check('Dropout', { p: 1 }, [smooth([3, 4], 1)]);
    await check('Dropout', { p: 0.3 }, [smooth([3, 4], 1)], { mode: 'eval' });
    const g = new Graph();
    const spec = single('Dropout', { p: 0.3 }, 1);
    const y = compiler.emitModule(g, spec, { x0: g.input('x', [12]) }, {}, context(g, 'train')).outputs['y0']!;
    const result = await runGraph(g, { y }, { ...feeds, x: floats([12], new Array<number>(12).fill(7)) });
    const kept = Array.from(feeds.uniform12.data as Float32Array, (u) =>
      u < Math.fround(0.3) ? 0 : Math.fround(1 / 0.7) * 7,
    );
    expect(numbersOf(result['y']!)).toEqual(kept.map((value) => expect.closeTo(value, 5)));
  });

  test('MultiHeadAttention in both layouts, with one, two and three inputs', async () => {
    const params = { embed_dim: 4, num_heads: 2 };
    await check('MultiHeadAttention', params, [smooth([3, 2, 4], 1)], { outputs: 2 });
    await check('MultiHeadAttention', { ...params, batch_first: true, bias: false }, [
      smooth([2, 3, 4], 1),
      smooth([2, 2, 4], 2),
    ]);
    const three = [smooth([2, 3, 4], 1), smooth([2, 2, 4], 2), smooth([2, 2, 4], 3)];
    await check('MultiHeadAttention', { ...params, batch_first: true }, three, { outputs: 2 });
    const draws = smooth([2 * 2 * 3 * 2], 9, 0, 1);
    await check('MultiHeadAttention', { ...params, batch_first: true, dropout: 0.4 }, three, {
      feeds: { uniform24: draws },
      outputs: 2,
    });
  });

  test('activations', async () => {
    const cases: readonly (readonly [string, Params])[] = [
      ['ReLU', {}],
      ['GELU', {}],
      ['GELU', { approximate: 'tanh' }],
      ['Sigmoid', {}],
      ['Tanh', {}],
      ['LeakyReLU', { negative_slope: 0.2 }],
      ['ELU', { alpha: 0.7 }],
      ['SiLU', {}],
      ['Mish', {}],
      ['SELU', {}],
      ['PReLU', {}],
      ['PReLU', { num_parameters: 3 }],
      ['Hardswish', {}],
      ['Softmax', { dim: 1 }],
    ];
    for (const [layer, params] of cases) await check(layer, params, [apart([2, 3, 2], 1, 0.37)]);
  });

  test('Flatten, Reshape, SelectIndex, merges', async () => {
    const x = smooth([2, 3, 4], 1);
    await check('Flatten', {}, [x]);
    await check('Flatten', { start_dim: 0, end_dim: 1 }, [x]);
    await check('Reshape', { shape: '2,-1' }, [x]);
    await check('SelectIndex', { dim: 1, index: -1 }, [x]);
    const three = [x, smooth([2, 3, 4], 2), smooth([2, 3, 4], 3)];
    for (const layer of ['Add', 'Multiply', 'Mean', 'Concat', 'Stack']) await check(layer, {}, three);
    await check('Subtract', {}, [x, smooth([3, 1], 2)]);
    await check('Add', {}, [smooth([3, 1], 2), x]);
  });
});

describe('what layers compute', () => {
  async function run(
    spec: ModuleSpec,
    inputs: Record<string, HostTensor>,
    weights: Record<string, HostTensor>,
    mode: 'train' | 'eval',
  ) {
    const g = new Graph();
    const declare = (tensors: Record<string, HostTensor>): Record<string, Value> =>
      Object.fromEntries(
        Object.entries(tensors).map(([name, { shape, dtype }]) => [name, g.input(name, shape, dtype)]),
      );
    const emitted = compiler.emitModule(g, spec, declare(inputs), declare(weights), context(g, mode));
    const buffers = Object.fromEntries(Object.entries(emitted.buffers).map(([name, value]) => [`new ${name}`, value]));
    return runGraph(g, { ...emitted.outputs, ...buffers }, { ...inputs, ...weights });
  }

  test('BatchNorm2d moves its running statistics by momentum, the variance unbiased', async () => {
    const x = smooth([3, 2, 2, 2], 5);
    const params = { num_features: 2, momentum: 0.25 };
    const weights = Object.fromEntries(weightsOf('BatchNorm2d', params, 1).map(({ name, value }) => [name, value]));
    const result = await run(single('BatchNorm2d', params, 1), { x0: x }, weights, 'train');
    const data = numbersOf(x);
    const channel = (c: number) => data.filter((_, i) => Math.floor(i / 4) % 2 === c);
    for (const c of [0, 1]) {
      const values = channel(c);
      const mean = values.reduce((a, b) => a + b) / values.length;
      const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / (values.length - 1);
      const old = (name: string) => numbersOf(weights[name]!)[c]!;
      expect(numbersOf(result['new l.running_mean']!)[c]).toBeCloseTo(0.75 * old('l.running_mean') + 0.25 * mean, 5);
      expect(numbersOf(result['new l.running_var']!)[c]).toBeCloseTo(0.75 * old('l.running_var') + 0.25 * variance, 5);
    }
    expect(numbersOf(result['new l.num_batches_tracked']!)).toEqual([5]);
    expect(Object.keys(await run(single('BatchNorm2d', params, 1), { x0: x }, weights, 'eval'))).toEqual(['y0']);
  });

  test('attention weights are rows of shares, averaged over the heads', async () => {
    const params = { embed_dim: 4, num_heads: 2, batch_first: true };
    const weights = Object.fromEntries(
      weightsOf('MultiHeadAttention', params, 1).map(({ name, value }) => [name, value]),
    );
    const result = await run(single('MultiHeadAttention', params, 1, 2), { x0: smooth([2, 3, 4], 1) }, weights, 'eval');
    const rows = numbersOf(result['y1']!);
    expect(result['y1']!.shape).toEqual([2, 3, 3]);
    for (let row = 0; row < 6; row++) {
      expect(rows.slice(row * 3, row * 3 + 3).reduce((a, b) => a + b)).toBeCloseTo(1, 5);
    }
  });

  test('nodes may be listed in any order, ops and nested modules among them', async () => {
    const inner: ModuleSpec = {
      inputs: ['a'],
      outputs: [{ port: 'b', from: { node: 'fc' } }],
      nodes: [{ id: 'fc', layer: 'Linear', params: { in_features: 2, out_features: 2 }, from: [{ input: 'a' }] }],
    };
    const spec: ModuleSpec = {
      inputs: ['x'],
      outputs: [{ port: 'y', from: { node: 'double' } }],
      nodes: [
        { id: 'double', op: 'affine', attrs: { scale: 2 }, from: [{ node: 'block' }] },
        { id: 'block', module: inner, from: [{ node: 'relu' }] },
        { id: 'relu', layer: 'ReLU', params: {}, from: [{ input: 'x' }] },
      ],
    };
    const weights = { 'block.fc.weight': floats([2, 2], [1, 2, 3, 4]), 'block.fc.bias': floats([2], [10, 20]) };
    const result = await run(spec, { x: floats([1, 2], [1, -5]) }, weights, 'eval');
    expect(numbersOf(result['y']!)).toEqual([22, 46]);
  });

  test('a module that lacks a weight or a node says which', () => {
    const g = new Graph();
    const spec = single('Linear', { in_features: 2, out_features: 1 }, 1);
    expect(() => compiler.emitModule(g, spec, { x0: g.input('x', [1, 2]) }, {}, context(g, 'eval'))).toThrow(
      "no weight 'l.weight'",
    );
    const broken: ModuleSpec = { ...spec, outputs: [{ port: 'y', from: { node: 'gone' } }] };
    const weights = { 'l.weight': g.input('w', [1, 2]), 'l.bias': g.input('b', [1]) };
    expect(() => compiler.emitModule(g, broken, { x0: g.input('x', [1, 2]) }, weights, context(g, 'eval'))).toThrow(
      "'gone'",
    );
  });
});

describe('Embedding', () => {
  /** Gradient of the sum of the looked-up rows, each times its number. */
  async function gradient(
    rows: number,
    width: number,
    index: readonly number[],
    padding_idx: number | null,
  ): Promise<number[]> {
    const g = new Graph();
    const table = g.input('table', [rows, width]);
    const spec = single('Embedding', { num_embeddings: rows, embedding_dim: width, padding_idx }, 1);
    const weights = { 'l.weight': table };
    const y = compiler.emitModule(
      g,
      spec,
      { x0: g.input('index', [index.length], 'int64') },
      weights,
      context(g, 'train'),
    ).outputs['y0']!;
    const seed = g.input('seed', y.shape);
    const [d] = compiler.gradients(g, y, [table], seed);
    const feeds = {
      index: longs([index.length], index),
      seed: floats(
        y.shape,
        Float32Array.from({ length: index.length * width }, (_, i) => Math.floor(i / width) % 7),
      ),
    };
    return numbersOf((await runGraph(g, { d: d! }, feeds, { threads: 2, runs: 3 }))['d']!);
  }

  test('sums exactly by product and by scatter, on two threads, and leaves the padding row alone', async () => {
    for (const [rows, count] of [
      [50, 2000],
      [5000, 2000],
    ] as const) {
      const index = Array.from({ length: count }, (_, i) => (i * i + 3 * i) % Math.min(rows, 60));
      for (const padding of [null, 4]) {
        const expected = new Array<number>(rows * 3).fill(0);
        index.forEach((row, i) => {
          if (row !== padding) for (let k = 0; k < 3; k++) expected[row * 3 + k]! += i % 7;
        });
        expect(await gradient(rows, 3, index, padding)).toEqual(expected);
      }
    }
  });
});
