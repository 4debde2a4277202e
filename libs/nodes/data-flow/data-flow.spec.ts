import type { PortValue } from '@cdui/node-sdk';
import { expectClose } from '../testing/close-to';
import type { TensorResult } from '../testing/run-node';
import { NodeRunner, tensor } from '../testing/run-node';

let runner: NodeRunner;
beforeAll(async () => {
  runner = await NodeRunner.open();
});
afterAll(() => runner.close());

describe('control and data flow', () => {
  it('Start: produces nothing', async () => {
    expect((await runner.runNode('Start')).outputs).toEqual({});
  });

  it('Map: runs a preset for each item, in order', async () => {
    const calls: unknown[] = [];
    const runPreset = (name: string, input: PortValue, index: number): Promise<PortValue> => {
      calls.push([name, index]);
      return Promise.resolve(Number(input) * 10);
    };
    const report = await runner.runNode('Map', {
      inputs: { items: [1, 2, 3] },
      params: { subgraph: 'Ten' },
      runPreset,
    });
    expect(report.outputs).toEqual({ results: [10, 20, 30], count: 3 });
    expect(calls).toEqual([
      ['Ten', 0],
      ['Ten', 1],
      ['Ten', 2],
    ]);
    const empty = await runner.runNode('Map', { inputs: { items: [] }, params: { subgraph: 'Ten' }, runPreset });
    expect(empty.outputs).toEqual({ results: [], count: 0 });
  });

  it('Map: refuses what is no list, a missing name, and passes errors on', async () => {
    await expect(runner.runNode('Map', { inputs: { items: 3 }, params: { subgraph: 'Ten' } })).rejects.toMatchObject({
      code: 'wrong_input_type',
    });
    await expect(runner.runNode('Map', { inputs: { items: [1] } })).rejects.toMatchObject({ code: 'invalid_param' });
    const failing = runner.runNode('Map', {
      inputs: { items: [1] },
      params: { subgraph: 'A' },
      runPreset: () => Promise.reject(new Error('inside')),
    });
    await expect(failing).rejects.toThrow('inside');
  });

  it.each<[string, unknown]>([
    ['sum', [5, 1]],
    ['mean', [2.5, 0.5]],
    ['min', [1, -2]],
    ['max', [4, 3]],
    ['concat', [1, 3, 4, -2]],
    [
      'stack',
      [
        [1, 3],
        [4, -2],
      ],
    ],
    ['first', [1, 3]],
    ['last', [4, -2]],
  ])('Reduce: %s', async (operation, expected) => {
    const report = await runner.runNode('Reduce', {
      inputs: { items: [tensor([1, 3]), tensor([4, -2])] },
      params: { operation },
    });
    expectClose((report.outputs['result'] as TensorResult).values, expected);
    expect(report.outputs['count']).toBe(2);
  });

  it('Reduce: numbers become tensors, first and last leave them alone', async () => {
    const sum = await runner.runNode('Reduce', { inputs: { items: [1, 2.5] }, params: { operation: 'sum' } });
    expect(sum.outputs['result']).toEqual({ shape: [], dtype: 'float32', values: 3.5 });
    const last = await runner.runNode('Reduce', { inputs: { items: ['a', 'b'] }, params: { operation: 'last' } });
    expect(last.outputs['result']).toBe('b');
    const stacked = await runner.runNode('Reduce', {
      inputs: { items: [tensor([1, 2]), tensor([3, 4])] },
      params: { operation: 'stack', dim: 1 },
    });
    expect((stacked.outputs['result'] as TensorResult).values).toEqual([
      [1, 3],
      [2, 4],
    ]);
    await expect(runner.runNode('Reduce', { inputs: { items: [] } })).rejects.toMatchObject({
      code: 'wrong_input_type',
    });
    await expect(runner.runNode('Reduce', { inputs: { items: ['a'] } })).rejects.toMatchObject({
      code: 'wrong_input_type',
    });
  });

  it('Switch: picks an input by number or tensor, and falls back to the first', async () => {
    const inputs = { input_0: 'zero', input_1: 'one', input_3: 'three' };
    const pick = async (selector: PortValue) =>
      (await runner.runNode('Switch', { inputs: { ...inputs, selector } })).outputs['output'];
    expect(await pick(0)).toBe('zero');
    expect(await pick(1.9)).toBe('one');
    expect(await pick(2)).toBe('zero');
    expect(await pick(3)).toBe('three');
    expect(await pick(7)).toBe('zero');
    expect(await pick(-1)).toBe('zero');
    expect(await pick(tensor(1))).toBe('one');
    expect(await pick(tensor([3]))).toBe('three');
    await expect(pick('one')).rejects.toMatchObject({ code: 'wrong_input_type' });
  });
});
