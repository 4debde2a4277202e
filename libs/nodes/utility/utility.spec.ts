import { PNG } from 'pngjs';
import { expectClose } from '../testing/close-to';
import { attention, linear, normalised } from '../testing/reference';
import type { TensorResult } from '../testing/run-node';
import { NodeRunner, tensor } from '../testing/run-node';

let runner: NodeRunner;
beforeAll(async () => {
  runner = await NodeRunner.open();
});
afterAll(() => runner.close());

const out = (report: { outputs: Readonly<Record<string, unknown>> }, port = 'tensor'): TensorResult =>
  report.outputs[port] as TensorResult;
const A = [
  [1, -2, 3],
  [4, 5, -6],
];

describe('layers', () => {
  it('Linear: is the product with its own weights, with steps in a verbose run', async () => {
    const params = { in_features: 3, out_features: 4 };
    const report = await runner.runNode('Linear', { inputs: { tensor: tensor(A) }, params, verbose: true, seed: 3 });
    const [product, sum] = report.steps;
    const weight = product?.tensors['weight']?.values as number[][];
    expectClose(out(report).values, linear(A, weight, sum?.tensors['bias']?.values as number[]));
    expectClose(product?.tensors['product']?.values, linear(A, weight, []));
    expect(product?.scalars).toEqual(params);
    await expect(runner.runNode('Linear', { inputs: { tensor: tensor(A) } })).rejects.toMatchObject({
      code: 'shape_mismatch',
    });
  });

  it('Linear: keeps the history that a backward pass needs', async () => {
    const gradients: Record<string, unknown> = {};
    await runner.runNode('Linear', {
      inputs: { tensor: tensor(A, 'float32', true) },
      params: { in_features: 3, out_features: 2 },
      recordGradients: true,
      verbose: true,
      inspect: async (scope, result) => {
        const y = result.outputs['tensor'] as Parameters<typeof scope.read>[0];
        const input = scope.upload({ shape: [1], dtype: 'float32', data: new Float32Array([2]) });
        const { tensors } = await scope.backward(scope.op('mul', [y, input], {}), { tensors: [y], modules: [] });
        gradients['y'] = tensors[0] ? [...new Float32Array((await scope.read(tensors[0])).data.buffer)] : null;
      },
    });
    expect(gradients['y']).toEqual([2, 2, 2, 2]);
  });

  it('Embedding: looks rows up, and keeps the padding row zero', async () => {
    const params = { num_embeddings: 5, embedding_dim: 3, padding_idx: 1 };
    const report = await runner.runNode('Embedding', {
      inputs: {
        tensor: tensor(
          [
            [4, 1],
            [0, 4],
          ],
          'int64',
        ),
      },
      params,
      verbose: true,
    });
    const table = report.steps[0]?.tensors['weight']?.values as number[][];
    expect(table[1]).toEqual([0, 0, 0]);
    expect(table[4]).not.toEqual([0, 0, 0]);
    expect(out(report)).toMatchObject({
      shape: [2, 2, 3],
      values: [
        [table[4], table[1]],
        [table[0], table[4]],
      ],
    });
    const whole = await runner.runNode('Embedding', {
      inputs: { tensor: tensor([1], 'int64') },
      params: { ...params, padding_idx: -1 },
    });
    expect(out(whole).values).not.toEqual([[0, 0, 0]]);
    await expect(runner.runNode('Embedding', { inputs: { tensor: tensor([1.5]) } })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });

  it('LayerNorm: normalises the last dimensions of each item', async () => {
    const report = await runner.runNode('LayerNorm', {
      inputs: { tensor: tensor(A) },
      params: { normalized_shape: '3' },
      verbose: true,
    });
    expectClose(
      out(report).values,
      A.map((row) => normalised(row)),
      1e-4,
    );
    expectClose(report.steps[0]?.tensors['mean']?.values, [[2 / 3], [1]]);
    const both = await runner.runNode('LayerNorm', {
      inputs: { tensor: tensor(A) },
      params: { normalized_shape: '2, 3', eps: 0.5 },
    });
    expectClose((out(both).values as number[][]).flat(), normalised(A.flat(), 0.5), 1e-4);
  });

  it('MultiHeadAttention: sequence first, weights averaged over the heads', async () => {
    const at = (l: number, n: number, e: number) => Math.sin(l * 7 + n * 3 + e);
    const sequence = (length: number) =>
      Array.from({ length }, (_, l) =>
        Array.from({ length: 2 }, (_n, n) => Array.from({ length: 4 }, (_e, e) => at(l, n, e))),
      );
    const [query, memory] = [sequence(3), sequence(5)];
    const report = await runner.runNode('MultiHeadAttention', {
      inputs: { query: tensor(query), key: tensor(memory), value: tensor(memory) },
      params: { embed_dim: 4, num_heads: 2 },
      verbose: true,
      seed: 5,
    });
    const weights = Object.fromEntries(
      Object.entries(report.steps[0]?.tensors ?? {}).map(([name, { values }]) => [name, values]),
    );
    const project = (rows: number[][], part: number) =>
      linear(
        rows,
        (weights['in_proj_weight'] as number[][]).slice(part * 4, part * 4 + 4),
        (weights['in_proj_bias'] as number[]).slice(part * 4, part * 4 + 4),
      );
    const item = (source: number[][][], n: number) => source.map((step) => step[n] ?? []);
    expect([out(report, 'output').shape, out(report, 'weights').shape]).toEqual([
      [3, 2, 4],
      [2, 3, 5],
    ]);
    for (const n of [0, 1]) {
      const [q, k, v] = [project(item(query, n), 0), project(item(memory, n), 1), project(item(memory, n), 2)];
      const heads = [0, 2].map((from) => {
        const half = (rows: number[][]) => rows.map((row) => row.slice(from, from + 2));
        return attention(half(q), half(k), half(v));
      });
      const joined = q.map((_, l) => heads.flatMap((head) => head.output[l] ?? []));
      const expected = linear(joined, weights['out_proj.weight'] as number[][], weights['out_proj.bias'] as number[]);
      expectClose(item(out(report, 'output').values as number[][][], n), expected, 1e-4);
      const mean = q.map((_, l) =>
        memory.map((_step, s) => ((heads[0]?.weights[l]?.[s] ?? 0) + (heads[1]?.weights[l]?.[s] ?? 0)) / 2),
      );
      expectClose((out(report, 'weights').values as number[][][])[n], mean, 1e-4);
    }
  });
});

describe('shapes', () => {
  it('Flatten, Reshape and Concat', async () => {
    const cube = [
      [
        [1, 2],
        [3, 4],
      ],
      [
        [5, 6],
        [7, 8],
      ],
    ];
    const flat = await runner.runNode('Flatten', { inputs: { tensor: tensor(cube) } });
    expect(out(flat).values).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ]);
    const all = await runner.runNode('Flatten', { inputs: { tensor: tensor(cube) }, params: { start_dim: -3 } });
    expect(out(all).values).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    await expect(
      runner.runNode('Flatten', { inputs: { tensor: tensor(cube) }, params: { start_dim: 3 } }),
    ).rejects.toMatchObject({ code: 'invalid_param' });
    const reshaped = await runner.runNode('Reshape', { inputs: { tensor: tensor(cube) }, params: { shape: '4, -1' } });
    expect(out(reshaped).values).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
      [7, 8],
    ]);
    await expect(runner.runNode('Reshape', { inputs: { tensor: tensor(cube) } })).rejects.toMatchObject({
      code: 'shape_mismatch',
    });
    const joined = await runner.runNode('Concat', {
      inputs: {
        tensor_a: tensor([[1], [2]]),
        tensor_b: tensor([
          [3, 4],
          [5, 6],
        ]),
      },
      params: { dim: 1 },
    });
    expect(out(joined).values).toEqual([
      [1, 3, 4],
      [2, 5, 6],
    ]);
  });
});

describe('BackwardOnce', () => {
  it('BackwardOnce passes the very tensor on, and says what it is', async () => {
    const report = await runner.runNode('BackwardOnce', {
      inputs: { tensor: tensor([1, 2]) },
    });
    expect(out(report).values).toEqual([1, 2]);
    await expect(runner.runNode('BackwardOnce', { inputs: { tensor: 3 } })).rejects.toMatchObject({
      code: 'wrong_input_type',
    });
  });
});

describe('Print', () => {
  it('Print writes tensors, lists, models and plain values, and passes them on', async () => {
    const print = async (value: Parameters<typeof tensor>[0], label = '') => {
      const report = await runner.runNode('Print', {
        inputs: { value: value as ReturnType<typeof tensor> },
        params: { label },
      });
      return report.log[0];
    };
    expect(await print(tensor(A), 'a')).toBe('[a] tensor [2, 3] float32 [[1, -2, 3], [4, 5, -6]]');
    expect(await print(tensor(0.1))).toBe('tensor [] float32 0.1');
    expect(await print(tensor([1, 0], 'bool'))).toBe('tensor [2] bool [true, false]');
    expect(await print([tensor([1.23456789]), 'x', null])).toBe('[tensor [1] float32 [1.23457], x, null]');
    expect(await print({ accuracy: 0.5, names: ['a'] })).toBe('{accuracy: 0.5, names: [a]}');
    expect(await print(new Array<number>(25).fill(1))).toMatch(/\.\.\. 5 more\]$/);
    const large = tensor(Array.from({ length: 2001 }, (_, index) => index));
    expect(await print(large)).toBe('tensor [2001] float32 min 0 max 2000 mean 1000');
    const passed = await runner.runNode('Print', { inputs: { value: tensor([7]) } });
    expect((passed.outputs['value'] as TensorResult).values).toEqual([7]);
  });
});

describe('Visualize', () => {
  it.each(['line', 'histogram', 'heatmap', 'image'])('Visualize gives a picture: %s', async (plot_type) => {
    const report = await runner.runNode('Visualize', {
      inputs: { data: tensor(A) },
      params: { plot_type, title: 'A' },
    });
    const image = report.outputs['image'] as string;
    const png = PNG.sync.read(Buffer.from(image, 'base64'));
    expect([png.width, png.height]).toEqual([800, 600]);
    expect(report.entries[0]).toEqual({
      output_kind: 'image',
      image: { format: 'png', encoding: 'base64', data: image },
      port: 'image',
    });
    expect(report.entries.map((entry) => entry.output_kind)).toEqual(
      plot_type === 'image' ? ['image'] : ['image', 'chart'],
    );
  });

  it('Visualize takes lists and numbers, and names what it cannot draw', async () => {
    const list = await runner.runNode('Visualize', { inputs: { data: [1, 2, 3] } });
    expect(list.entries[1]).toMatchObject({ chart: { type: 'line', values: [1, 2, 3] } });
    await expect(runner.runNode('Visualize', { inputs: { data: 'text' } })).rejects.toMatchObject({
      code: 'wrong_input_type',
    });
    await expect(
      runner.runNode('Visualize', { inputs: { data: [1, 2] }, params: { plot_type: 'image' } }),
    ).rejects.toMatchObject({
      code: 'wrong_input_type',
      message: expect.stringContaining('an image [H, W]'),
    });
  });
});
