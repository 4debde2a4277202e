import { expectClose } from '../testing/close-to';
import type { TensorResult } from '../testing/run-node';
import { NodeRunner, tensor } from '../testing/run-node';

let runner: NodeRunner;
beforeAll(async () => {
  runner = await NodeRunner.open();
});
afterAll(() => runner.close());

const A = [
  [1, -2, 3],
  [4, 5, -6],
];
const B = [
  [10, 20, 30],
  [40, 50, 60],
];
const out = (report: { outputs: Readonly<Record<string, unknown>> }, port = 'tensor'): TensorResult =>
  report.outputs[port] as TensorResult;

describe('tensor operations', () => {
  it('Add: a + alpha * b, with broadcasting', async () => {
    const plain = await runner.runNode('Add', { inputs: { tensor_a: tensor(A), tensor_b: tensor(B) } });
    expect(out(plain)).toEqual({
      shape: [2, 3],
      dtype: 'float32',
      values: [
        [11, 18, 33],
        [44, 55, 54],
      ],
    });
    const scaled = await runner.runNode('Add', {
      inputs: { tensor_a: tensor(A), tensor_b: tensor([1, 2, 3]) },
      params: { alpha: -2 },
    });
    expectClose(out(scaled).values, [
      [-1, -6, -3],
      [2, 1, -12],
    ]);
    await expect(
      runner.runNode('Add', { inputs: { tensor_a: tensor(A), tensor_b: tensor([1, 2]) } }),
    ).rejects.toMatchObject({
      code: 'shape_mismatch',
    });
  });

  it('Multiply', async () => {
    const report = await runner.runNode('Multiply', { inputs: { tensor_a: tensor(A), tensor_b: tensor(B) } });
    expectClose(out(report).values, [
      [10, -40, 90],
      [160, 250, -360],
    ]);
  });

  it('MatMul: also in batches', async () => {
    const report = await runner.runNode('MatMul', {
      inputs: {
        tensor_a: tensor(A),
        tensor_b: tensor([
          [1, 0],
          [2, 1],
          [0, -1],
        ]),
      },
    });
    expectClose(out(report).values, [
      [-3, -5],
      [14, 11],
    ]);
    const batch = await runner.runNode('MatMul', {
      inputs: {
        tensor_a: tensor([A, A]),
        tensor_b: tensor([
          [[1], [1], [1]],
          [[1], [0], [0]],
        ]),
      },
    });
    expectClose(out(batch).values, [
      [[2], [3]],
      [[1], [4]],
    ]);
    await expect(
      runner.runNode('MatMul', { inputs: { tensor_a: tensor(A), tensor_b: tensor(A) } }),
    ).rejects.toMatchObject({
      code: 'shape_mismatch',
    });
  });

  it('ScalarMultiply', async () => {
    const report = await runner.runNode('ScalarMultiply', { inputs: { tensor: tensor(A) }, params: { scalar: -0.5 } });
    expectClose(out(report).values, [
      [-0.5, 1, -1.5],
      [-2, -2.5, 3],
    ]);
  });

  it('Mean: over a list of dimensions', async () => {
    const last = await runner.runNode('Mean', { inputs: { tensor: tensor(A) } });
    expectClose(out(last).values, [2 / 3, 1]);
    const all = await runner.runNode('Mean', { inputs: { tensor: tensor(A) }, params: { dim: '0, 1', keepdim: true } });
    expect(out(all).shape).toEqual([1, 1]);
    expectClose(out(all).values, [[5 / 6]]);
    await expect(
      runner.runNode('Mean', { inputs: { tensor: tensor(A) }, params: { dim: 'first' } }),
    ).rejects.toMatchObject({
      code: 'invalid_param',
    });
  });

  it('Permute, Squeeze and Unsqueeze', async () => {
    const permuted = await runner.runNode('Permute', { inputs: { tensor: tensor(A) }, params: { dims: '1,0' } });
    expect(out(permuted).values).toEqual([
      [1, 4],
      [-2, 5],
      [3, -6],
    ]);
    const box = [[[[1], [2]]]];
    const all = await runner.runNode('Squeeze', { inputs: { tensor: tensor(box) } });
    expect(out(all)).toMatchObject({ shape: [2], values: [1, 2] });
    const one = await runner.runNode('Squeeze', { inputs: { tensor: tensor(box) }, params: { dim: 0 } });
    expect(out(one).shape).toEqual([1, 2, 1]);
    const unsqueezed = await runner.runNode('Unsqueeze', { inputs: { tensor: tensor(A) }, params: { dim: -1 } });
    expect(out(unsqueezed)).toMatchObject({
      shape: [2, 3, 1],
      values: [
        [[1], [-2], [3]],
        [[4], [5], [-6]],
      ],
    });
    const front = await runner.runNode('Unsqueeze', { inputs: { tensor: tensor(A) } });
    expect(out(front).shape).toEqual([1, 2, 3]);
  });

  it('Stack', async () => {
    const report = await runner.runNode('Stack', {
      inputs: { tensor_a: tensor([1, 2]), tensor_b: tensor([3, 4]) },
      params: { dim: 1 },
    });
    expect(out(report).values).toEqual([
      [1, 3],
      [2, 4],
    ]);
  });

  it('Split: an output per chunk; there may be fewer than ports', async () => {
    const report = await runner.runNode('Split', {
      inputs: { tensor: tensor([1, 2, 3, 4, 5]) },
      params: { chunks: 4 },
    });
    expect(
      Object.fromEntries(Object.entries(report.outputs).map(([port, value]) => [port, (value as TensorResult).values])),
    ).toEqual({
      chunk_0: [1, 2],
      chunk_1: [3, 4],
      chunk_2: [5],
    });
    const columns = await runner.runNode('Split', { inputs: { tensor: tensor(A) }, params: { dim: 1 } });
    expect([out(columns, 'chunk_0').shape, out(columns, 'chunk_1').shape]).toEqual([
      [2, 2],
      [2, 1],
    ]);
  });

  it('Argmax', async () => {
    const report = await runner.runNode('Argmax', { inputs: { tensor: tensor(A) } });
    expect(out(report)).toEqual({ shape: [2], dtype: 'int64', values: [2, 1] });
    const kept = await runner.runNode('Argmax', { inputs: { tensor: tensor(A) }, params: { dim: 0, keepdim: true } });
    expect(out(kept)).toMatchObject({ shape: [1, 3], values: [[1, 1, 0]] });
  });

  it('Softmax: with its steps in a verbose run', async () => {
    const report = await runner.runNode('Softmax', {
      inputs: {
        tensor: tensor([
          [0, Math.log(3)],
          [1000, 1000],
        ]),
      },
      verbose: true,
    });
    expectClose(out(report).values, [
      [0.25, 0.75],
      [0.5, 0.5],
    ]);
    expect(report.steps.map((step) => step.name)).toEqual(['shift', 'exponentials', 'normalise']);
    expectClose(report.steps[2]?.tensors['sum']?.values, [[4 / 3], [2]]);
    const columns = await runner.runNode('Softmax', {
      inputs: {
        tensor: tensor([
          [0, 5],
          [0, 5],
        ]),
      },
      params: { dim: 0 },
    });
    expectClose(out(columns).values, [
      [0.5, 0.5],
      [0.5, 0.5],
    ]);
    expect(columns.steps).toEqual([]);
  });

  it('TensorCreate: every fill', async () => {
    const create = async (fill: string, shape = '2,2', seed?: number): Promise<TensorResult> =>
      out(
        await runner.runNode('TensorCreate', {
          params: { shape, fill, value: 7 },
          ...(seed !== undefined && { seed }),
        }),
      );
    expect(await create('zeros')).toEqual({
      shape: [2, 2],
      dtype: 'float32',
      values: [
        [0, 0],
        [0, 0],
      ],
    });
    expect((await create('ones')).values).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect((await create('full')).values).toEqual([
      [7, 7],
      [7, 7],
    ]);
    expect((await create('arange', '4,3')).values).toEqual([0, 1, 2, 3]);
    const uniform = (await create('rand', '1000', 1)).values as number[];
    expect(Math.min(...uniform)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...uniform)).toBeLessThan(1);
    expect(new Set(uniform).size).toBeGreaterThan(900);
    const normal = (await create('randn', '1000', 1)).values as number[];
    expect(Math.abs(normal.reduce((sum, value) => sum + value) / 1000)).toBeLessThan(0.2);
    expect(Math.min(...normal)).toBeLessThan(-1.5);
    expect((await create('randn', '1000', 1)).values).toEqual(normal);
    expect((await create('randn', '1000', 2)).values).not.toEqual(normal);
    await expect(create('zeros', '2,-1')).rejects.toMatchObject({ code: 'invalid_param' });
  });

  it('TensorCreate: a leaf of the backward pass when it is asked for', async () => {
    let gradient: number[] | null = null;
    await runner.runNode('TensorCreate', {
      params: { shape: '3', fill: 'arange', requires_grad: true },
      recordGradients: true,
      inspect: async (scope, result) => {
        const leaf = result.outputs['tensor'] as Parameters<typeof scope.read>[0];
        const square = scope.op('mul', [leaf, leaf], {});
        const { tensors } = await scope.backward(square, { tensors: [leaf], modules: [] });
        gradient = tensors[0] ? [...new Float32Array((await scope.read(tensors[0])).data.buffer)] : null;
      },
    });
    expect(gradient).toEqual([0, 2, 4]);
  });

  it('frees everything', async () => {
    const before = await runner.liveHandles();
    await runner.runNode('Softmax', { inputs: { tensor: tensor(A) }, verbose: true });
    await runner.runNode('Split', { inputs: { tensor: tensor(A) } });
    expect(await runner.liveHandles()).toBe(before);
  });
});
