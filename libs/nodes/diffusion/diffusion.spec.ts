import { expectClose } from '../testing/close-to';
import type { NodeCase, TensorResult } from '../testing/run-node';
import { NodeRunner, tensor } from '../testing/run-node';

let runner: NodeRunner;
beforeAll(async () => {
  runner = await NodeRunner.open();
});
afterAll(() => runner.close());

describe('blending, noise and resizing', () => {
  it('Lerp: alpha is the share of the first tensor; a wired one wins', async () => {
    const inputs = { tensor_a: tensor([10, 20]), tensor_b: tensor([0, 100]) };
    const blend = async (more: NodeCase): Promise<unknown> =>
      (
        (await runner.runNode('Lerp', { ...more, inputs: { ...inputs, ...more.inputs } })).outputs[
          'tensor'
        ] as TensorResult
      ).values;
    expectClose(await blend({}), [5, 60]);
    expectClose(await blend({ params: { alpha: 0.9 } }), [9, 28]);
    expectClose(await blend({ params: { alpha: 0.9 }, inputs: { alpha: tensor([1, 0]) } }), [10, 100]);
  });

  it('GaussianNoise: depends on its seed alone, and may copy a shape', async () => {
    const noise = async (options: NodeCase): Promise<TensorResult> =>
      (await runner.runNode('GaussianNoise', options)).outputs['noise'] as TensorResult;
    const first = await noise({ seed: 1 });
    expect(first.shape).toEqual([1, 3, 8, 8]);
    expect(await noise({ seed: 2 })).toEqual(first);
    expect((await noise({ params: { seed: 1 } })).values).not.toEqual(first.values);
    expect((await noise({ inputs: { shape_ref: tensor([[1, 2, 3]]) } })).shape).toEqual([1, 3]);
    const many = (await noise({ params: { shape: '4000', mean: 5, std: 2 } })).values as number[];
    const mean = many.reduce((sum, value) => sum + value) / many.length;
    const deviation = Math.sqrt(many.reduce((sum, value) => sum + (value - mean) ** 2, 0) / many.length);
    expect(Math.abs(mean - 5)).toBeLessThan(0.15);
    expect(Math.abs(deviation - 2)).toBeLessThan(0.15);
    await expect(noise({ params: { std: -1 } })).rejects.toMatchObject({ code: 'param_below_min' });
  });

  it('Upsample: nearest, bilinear and area', async () => {
    const resize = async (params: Record<string, unknown>, image: unknown): Promise<unknown> =>
      (
        (await runner.runNode('Upsample', { inputs: { tensor: tensor(image) }, params })).outputs[
          'tensor'
        ] as TensorResult
      ).values;
    expect(await resize({}, [[[[1, 2]]]])).toEqual([
      [
        [
          [1, 1, 2, 2],
          [1, 1, 2, 2],
        ],
      ],
    ]);
    expectClose(await resize({ mode: 'bilinear' }, [[[[0, 4]]]]), [
      [
        [
          [0, 1, 3, 4],
          [0, 1, 3, 4],
        ],
      ],
    ]);
    expectClose(
      await resize({ mode: 'area', scale_factor: 0.5 }, [
        [
          [
            [1, 3],
            [5, 7],
          ],
        ],
      ]),
      [[[[4]]]],
    );
  });
});
