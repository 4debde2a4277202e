import type { PortValue } from '@cdui/node-sdk';
import type { TensorResult } from '../testing/run-node';
import { NodeRunner, tensor } from '../testing/run-node';

let runner: NodeRunner;
beforeAll(async () => {
  runner = await NodeRunner.open();
});
afterAll(() => runner.close());

const select = async (
  params: Record<string, unknown>,
  inputs: Record<string, PortValue> = {},
): Promise<TensorResult> => {
  const table = tensor([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  return (await runner.runNode('ColumnSelector', { inputs: { tensor: table, ...inputs }, params })).outputs[
    'tensor'
  ] as TensorResult;
};

describe('ColumnSelector', () => {
  it('ColumnSelector keeps columns by index, in the order given', async () => {
    expect((await select({})).values).toEqual([[1], [4]]);
    expect((await select({ indices: '2, 0' })).values).toEqual([
      [3, 1],
      [6, 4],
    ]);
    expect(await select({ indices: '' })).toEqual({ shape: [2, 0], dtype: 'float32', values: [[], []] });
  });

  it('takes names over indices', async () => {
    const columns = ['a', 'b', 'c'];
    expect((await select({ names: 'c,b' }, { columns })).values).toEqual([
      [3, 2],
      [6, 5],
    ]);
    await expect(select({ names: 'd' }, { columns })).rejects.toThrow(/param "names" must be among a, b, c, got "d"/);
    await expect(select({ names: 'a' })).rejects.toMatchObject({ code: 'missing_input' });
  });

  it('refuses indices outside, negative ones too', async () => {
    for (const indices of ['3', '-1', '0, 9'])
      await expect(select({ indices })).rejects.toMatchObject({ code: 'invalid_param' });
    await expect(select({}, { tensor: tensor(1) })).rejects.toMatchObject({ code: 'wrong_input_type' });
  });
});
