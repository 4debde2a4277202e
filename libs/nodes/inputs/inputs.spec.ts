import type { TensorResult } from '../testing/run-node';
import { NodeRunner } from '../testing/run-node';

let runner: NodeRunner;
beforeAll(async () => {
  runner = await NodeRunner.open();
});
afterAll(() => runner.close());

const create = async (params: Record<string, unknown>, recordGradients = false): Promise<TensorResult> =>
  (await runner.runNode('TensorInput', { params, recordGradients })).outputs['tensor'] as TensorResult;

describe('inputs', () => {
  it('TextInput: gives its text', async () => {
    expect((await runner.runNode('TextInput')).outputs['text']).toMatch(/quick brown fox/);
    expect((await runner.runNode('TextInput', { params: { value: 'Hello' } })).outputs).toEqual({ text: 'Hello' });
  });

  it('TensorInput: typed-in values of every dtype', async () => {
    const explicit = (dtype: string, values: unknown) =>
      create({ value_mode: 'explicit', shape: '2, 2', dtype, values });
    expect(
      await explicit('float32', [
        [1, 2.5],
        [-3, 4],
      ]),
    ).toEqual({
      shape: [2, 2],
      dtype: 'float32',
      values: [
        [1, 2.5],
        [-3, 4],
      ],
    });
    expect(await explicit('float64', [1, 2, 3, 0.1])).toEqual({
      shape: [2, 2],
      dtype: 'float64',
      values: [
        [1, 2],
        [3, 0.1],
      ],
    });
    expect(
      await explicit('int64', [
        [9, 8],
        [7, -6],
      ]),
    ).toEqual({
      shape: [2, 2],
      dtype: 'int64',
      values: [
        [9, 8],
        [7, -6],
      ],
    });
    expect(
      await explicit('bool', [
        [0, 2],
        [1, 0],
      ]),
    ).toEqual({
      shape: [2, 2],
      dtype: 'bool',
      values: [
        [0, 1],
        [1, 0],
      ],
    });
    await expect(explicit('float32', [1, 2, 3])).rejects.toThrow(/must hold 4 numbers for the shape \[2, 2\], holds 3/);
    await expect(explicit('float32', [true, false, true, true])).rejects.toMatchObject({ code: 'invalid_param' });
    expect(await explicit('bool', [true, false, 0, 2])).toMatchObject({
      values: [
        [1, 0],
        [0, 1],
      ],
    });
    await expect(create({ value_mode: 'arange', shape: '100000,100000' })).rejects.toThrow(
      /"shape" must hold at most 268435456 elements, got "100000,100000"/,
    );
    await expect(explicit('float32', null)).rejects.toMatchObject({ code: 'invalid_param' });
    await expect(explicit('float32', [[1, 2], [3]])).rejects.toMatchObject({ code: 'invalid_param' });
  });

  it('TensorInput: fills', async () => {
    expect((await create({ value_mode: 'zeros', shape: '2' })).values).toEqual([0, 0]);
    expect(await create({ value_mode: 'ones', shape: '2', dtype: 'int32' })).toEqual({
      shape: [2],
      dtype: 'int32',
      values: [1, 1],
    });
    expect((await create({ value_mode: 'arange', shape: '2,2', dtype: 'int64' })).values).toEqual([
      [0, 1],
      [2, 3],
    ]);
    await expect(create({ value_mode: 'zeros', shape: '-1' })).rejects.toMatchObject({ code: 'invalid_param' });
  });

  it('TensorInput: random numbers depend on its own seed alone', async () => {
    const first = await create({});
    expect(first.shape).toEqual([1, 4, 4]);
    expect(await create({})).toEqual(first);
    expect((await create({ seed: 1 })).values).not.toEqual(first.values);
    const digits = (await create({ shape: '500', dtype: 'int64' })).values as number[];
    expect([...new Set(digits)].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const coins = await create({ shape: '100', dtype: 'bool' });
    expect(coins.dtype).toBe('bool');
    expect([...new Set(coins.values as number[])].sort()).toEqual([0, 1]);
  });

  it('TensorInput: is a leaf of the backward pass when gradients are recorded', async () => {
    const ported: unknown[] = [];
    for (const dtype of ['float32', 'int64']) {
      await runner.runNode('TensorInput', {
        params: { shape: '2', value_mode: 'ones', dtype },
        recordGradients: true,
        inspect: async (scope, result) => {
          const leaf = result.outputs['tensor'] as Parameters<typeof scope.read>[0];
          const weight = scope.upload(
            { shape: [2], dtype: 'float32', data: new Float32Array([3, 5]) },
            { requiresGrad: true },
          );
          const { tensors } = await scope.backward(scope.op('mul', [leaf, weight], {}), {
            tensors: [leaf],
            modules: [],
          });
          ported.push(tensors[0] ? [...new Float32Array((await scope.read(tensors[0])).data.buffer)] : null);
        },
      });
    }
    expect(ported).toEqual([[3, 5], null]);
  });
});
