import * as ort from '../ort';
import type { HostTensor } from '../../runtime';
import { gradients } from '../grad/gradients';
import { encodeGraph } from '../graph/encode';
import { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { add, mul } from '../ops/elementwise';
import { sum } from '../ops/reduce';
import { floats, numbersOf, runGraph } from './run-graph';

export interface GradientCase {
  readonly inputs: readonly HostTensor[];
  /** Emits what is checked from the inputs, in order. */
  build(g: Graph, inputs: readonly Value[]): Value | readonly Value[];
  /** Inputs whose gradient is checked; default all of float32. */
  readonly wanted?: readonly number[];
  readonly step?: number;
  readonly tolerance?: number;
  readonly feeds?: Readonly<Record<string, HostTensor>>;
}

/** A deterministic number in [-1, 1) for each place. */
function weightAt(i: number): number {
  return ((Math.imul(i + 1, 2654435761) >>> 8) & 0xffff) / 0x8000 - 1;
}

/**
 * Compares the gradients of a weighted sum of all float outputs with central differences, for every element of every input;
 * then runs the gradients several times on two threads, which must give the same bits each time and the same numbers as one thread.
 * Also checks that the outputs have the shapes the graph says.
 */
export async function checkGradients(testCase: GradientCase): Promise<void> {
  const { inputs, build, step = 1e-2, tolerance = 3e-3, feeds = {} } = testCase;
  const wanted = testCase.wanted ?? inputs.flatMap(({ dtype }, i) => (dtype === 'float32' ? [i] : []));
  const g = new Graph();
  const values = inputs.map(({ shape, dtype }, i) => g.input(`in${i}`, shape, dtype));
  const built = build(g, values);
  const outputs = (Array.isArray(built) ? built : [built as Value]) as readonly Value[];
  const floating = outputs.filter(({ dtype }) => dtype === 'float32');
  const weights = floating.map(({ shape }, k) =>
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => weightAt(i + 97 * k)),
  );
  const loss = floating
    .map((output, k) => {
      const weighted = mul(g, output, g.constant('float32', output.shape, weights[k]!));
      return sum(
        g,
        weighted,
        output.shape.map((_, axis) => axis),
      );
    })
    .reduce((a, b) => add(g, a, b));
  const found = gradients(
    g,
    loss,
    wanted.map((i) => values[i]!),
  );
  const named = Object.fromEntries(found.flatMap((gradient, k) => (gradient ? [[`g${k}`, gradient]] : [])));
  const fed = { ...feeds, ...Object.fromEntries(inputs.map((input, i) => [`in${i}`, input])) };
  const single = await runGraph(g, named, fed);
  const double = await runGraph(g, named, fed, { threads: 2, runs: 3 });
  const numeric = await differences(g, floating, weights, fed, wanted, step);
  for (const [k, index] of wanted.entries()) {
    const input = inputs[index]!;
    const expected = numeric[k]!;
    const actual = single[`g${k}`] ? numbersOf(single[`g${k}`]!) : expected.map(() => 0);
    if (single[`g${k}`]) expect(single[`g${k}`]!.shape).toEqual(input.shape);
    const scale = Math.max(1, ...expected.map(Math.abs));
    const worst = Math.max(0, ...expected.map((value, i) => Math.abs(value - actual[i]!)));
    if (!(worst <= tolerance * scale)) {
      throw new Error(
        `gradient of input ${index} is off by ${worst} (scale ${scale})\nexpected ${expected
          .slice(0, 24)
          .map((v) => v.toFixed(4))
          .join(' ')}\n` +
          `actual   ${actual
            .slice(0, 24)
            .map((v) => v.toFixed(4))
            .join(' ')}`,
      );
    }
    const both = double[`g${k}`] ? numbersOf(double[`g${k}`]!) : actual;
    expect(Math.max(0, ...both.map((value, i) => Math.abs(value - actual[i]!)))).toBeLessThanOrEqual(1e-4 * scale);
  }
}

/** Central differences of the weighted sum, one element at a time; the sum itself is taken in double precision. */
async function differences(
  g: Graph,
  outputs: readonly Value[],
  weights: readonly Float32Array[],
  feeds: Readonly<Record<string, HostTensor>>,
  wanted: readonly number[],
  step: number,
): Promise<readonly (readonly number[])[]> {
  const model = encodeGraph(g, Object.fromEntries(outputs.map((output, k) => [`o${k}`, output])));
  const session = await ort.InferenceSession.create(model.bytes, { intraOpNumThreads: 1, logSeverityLevel: 4 });
  const tensor = (value: HostTensor) => new ort.Tensor(value.dtype, value.data as never, value.shape);
  const total = async (changed: string, value: HostTensor) => {
    const all = Object.fromEntries(model.inputs.map((name) => [name, tensor(name === changed ? value : feeds[name]!)]));
    const results = await session.run(all);
    return outputs.reduce((sum, output, k) => {
      const result = results[`o${k}`]!;
      expect(result.dims).toEqual(output.shape);
      const data = result.data as Float32Array;
      return data.reduce((inner, value, i) => inner + value * weights[k]![i]!, sum);
    }, 0);
  };
  try {
    const columns: number[][] = [];
    for (const index of wanted) {
      const name = `in${index}`;
      const input = feeds[name]!;
      const column: number[] = [];
      for (let at = 0; at < (input.data as Float32Array).length; at++) {
        const moved = (by: number) => {
          const data = Float32Array.from(input.data as Float32Array);
          data[at]! += by;
          return { value: floats(input.shape, data), at: data[at]! };
        };
        const [up, down] = [moved(step), moved(-step)];
        column.push(((await total(name, up.value)) - (await total(name, down.value))) / (up.at - down.at));
      }
      columns.push(column);
    }
    return columns;
  } finally {
    await session.release();
  }
}

/** Numbers in [-1, 1) from a seed. */
export function smooth(shape: readonly number[], seed: number, low = -1, high = 1): HostTensor {
  let state = seed >>> 0 || 1;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return low + ((high - low) * state) / 2 ** 32;
  };
  return floats(shape, Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, next));
}

/** Shuffled numbers, no two closer than `gap` and none closer to zero than half of it: differences never cross a kink. */
export function apart(shape: readonly number[], seed: number, gap = 0.1): HostTensor {
  const size = shape.reduce((a, b) => a * b, 1);
  const order = Array.from({ length: size }, (_, i) => i);
  const draws = smooth([size], seed, 0, 1).data as Float32Array;
  order.sort((a, b) => draws[a]! - draws[b]!);
  return floats(
    shape,
    order.map((rank) => (rank - Math.floor(size / 2) + 0.5) * gap),
  );
}
