import * as ort from '../ort';
import { add, cast, mul } from '../ops/elementwise';
import { maxPool2d } from '../ops/pool';
import { slice } from '../ops/shape';
import { floats, longs, numbersOf, runGraph } from '../testing/run-graph';
import { encodeGraph } from './encode';
import { Graph } from './graph';

describe('encoding a graph', () => {
  test('leaves out what no output needs', () => {
    const g = new Graph();
    const [a, b] = [g.input('a', [2]), g.input('b', [2])];
    const wanted = add(g, a, 1);
    mul(g, wanted, b);
    const encoded = encodeGraph(g, { y: wanted });
    expect(encoded.inputs).toEqual(['a']);
    expect(encoded.nodes).toBe(1);
  });

  test('writes inputs, constants and repeated values as outputs', async () => {
    const g = new Graph();
    const a = g.input('a', [2]);
    const y = add(g, a, 1);
    const results = await runGraph(g, { a2: a, y, again: y, c: g.ints([7, -7]) }, { a: floats([2], [1, 2]) });
    expect(Object.fromEntries(Object.entries(results).map(([name, tensor]) => [name, numbersOf(tensor)]))).toEqual({
      a2: [1, 2],
      y: [2, 3],
      again: [2, 3],
      c: [7, -7],
    });
  });

  test('uses an output inside the graph as well', async () => {
    const g = new Graph();
    const y = add(g, g.input('a', [1]), 1);
    const results = await runGraph(g, { y, z: mul(g, y, y) }, { a: floats([1], [2]) });
    expect(numbersOf(results['z']!)).toEqual([9]);
  });

  test('refuses an output with the name of an input', () => {
    const g = new Graph();
    const a = g.input('a', [1]);
    expect(() => encodeGraph(g, { a: add(g, a, 1) })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });

  test('shares small constants by content and tells 0 from -0', async () => {
    const g = new Graph();
    expect(g.scalar(2)).toBe(g.scalar(2));
    expect(g.scalar(2)).not.toBe(g.scalar(2, 'float64'));
    expect(g.ints([1, 2])).not.toBe(g.numbers('int64', [2, 1], [1, 2]));
    expect(g.scalar(0)).not.toBe(g.scalar(-0));
    const y = g.op1('Div', [g.input('a', [1]), g.scalar(-0)], { shape: [1], dtype: 'float32' });
    expect(numbersOf((await runGraph(g, { y }, { a: floats([1], [1]) }))['y']!)).toEqual([-Infinity]);
  });

  test('carries every dtype as input, constant and output', async () => {
    const g = new Graph();
    const big = 2 ** 53 - 1;
    const results = await runGraph(
      g,
      {
        long: add(g, g.input('i', [1], 'int64'), g.numbers('int64', [1], [-big])),
        truth: g.numbers('bool', [2], [0, 5]),
        bytes: cast(g, g.numbers('int32', [2], [3, 255]), 'uint8'),
        double: g.numbers('float64', [1], [1 / 3]),
      },
      { i: longs([1], [big]) },
    );
    expect(numbersOf(results['long']!)).toEqual([0]);
    expect(numbersOf(results['truth']!)).toEqual([0, 1]);
    expect(numbersOf(results['bytes']!)).toEqual([3, 255]);
    expect(numbersOf(results['double']!)).toEqual([1 / 3]);
    expect(Object.values(results).map(({ dtype }) => dtype)).toEqual(['int64', 'bool', 'uint8', 'float64']);
  });

  test('leaves MaxPool without indices where nobody asks for them', async () => {
    const g = new Graph();
    const x = g.input('x', [1, 1, 4, 4]);
    const y = maxPool2d(g, x, { kernel: [3, 3], stride: [1, 1], padding: [1, 1] });
    expect(y.op!.outputs).toHaveLength(2);
    const session = await ort.InferenceSession.create(encodeGraph(g, { y }).bytes);
    expect(session.outputNames).toEqual(['y']);
    await session.release();
  });

  test('builders refuse shapes that do not fit', () => {
    const g = new Graph();
    const x = g.input('x', [2, 3]);
    expect(() => add(g, x, g.input('y', [2]))).toThrow(expect.objectContaining({ code: 'shape_mismatch' }));
    expect(() => slice(g, x, [{ axis: 1, start: 0, stop: 4 }])).toThrow(
      expect.objectContaining({ code: 'shape_mismatch' }),
    );
    expect(() => add(g, x, g.input('z', [2, 3], 'int64'))).toThrow('dtypes differ');
  });

  test('names and text may hold any character', async () => {
    const g = new Graph();
    const y = add(g, g.input('größe/~1', [1]), 1);
    expect(Object.keys(await runGraph(g, { 'résultat 🙂': y }, { 'größe/~1': floats([1], [1]) }))).toEqual([
      'résultat 🙂',
    ]);
  });

  test('a graph of many megabytes of constants grows the buffer', async () => {
    const g = new Graph();
    const big = g.constant('float32', [3_000_000], new Float32Array(3_000_000).fill(2));
    const y = slice(g, add(g, big, g.input('a', [1])), [{ axis: 0, start: 2_999_999, stop: 3_000_000 }]);
    expect(numbersOf((await runGraph(g, { y }, { a: floats([1], [1]) }))['y']!)).toEqual([3]);
  });
});
