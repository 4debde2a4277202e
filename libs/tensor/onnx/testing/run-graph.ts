import * as ort from '../ort';
import type { HostTensor } from '../../runtime';
import { encodeGraph } from '../graph/encode';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';

export interface RunOptions {
  readonly threads?: number;
  /** How often the graph runs on one session; the results must be the same bits each time. */
  readonly runs?: number;
}

/** Compiles a graph and runs it once (or several times) on a session of its own. */
export async function runGraph(
  graph: Graph,
  outputs: Readonly<Record<string, Value>>,
  feeds: Readonly<Record<string, HostTensor>>,
  { threads = 1, runs = 1 }: RunOptions = {},
): Promise<Record<string, HostTensor>> {
  const model = encodeGraph(graph, outputs);
  const session = await ort.InferenceSession.create(model.bytes, {
    intraOpNumThreads: threads,
    graphOptimizationLevel: 'basic',
    logSeverityLevel: 4,
  });
  try {
    const tensors = Object.fromEntries(
      model.inputs.map((name) => {
        const feed = feeds[name];
        if (!feed) throw new Error(`no feed for ${name}`);
        return [name, new ort.Tensor(feed.dtype, feed.data as ort.Tensor.DataType, feed.shape)];
      }),
    );
    let first: Record<string, HostTensor> | null = null;
    for (let run = 0; run < runs; run++) {
      const result = hostTensors(await session.run(tensors));
      if (first) requireSame(first, result);
      else first = result;
    }
    return first!;
  } finally {
    await session.release();
  }
}

function hostTensors(results: ort.InferenceSession.ReturnType): Record<string, HostTensor> {
  return Object.fromEntries(
    Object.entries(results).map(([name, tensor]) => [
      name,
      { shape: tensor.dims, dtype: tensor.type as HostTensor['dtype'], data: tensor.data as ArrayBufferView },
    ]),
  );
}

function requireSame(a: Record<string, HostTensor>, b: Record<string, HostTensor>): void {
  for (const name of Object.keys(a)) {
    const [x, y] = [a[name]!.data, b[name]!.data].map((data) =>
      Buffer.from(data.buffer, data.byteOffset, data.byteLength),
    );
    if (!x!.equals(y!)) throw new Error(`output ${name} differs between two runs of one session`);
  }
}

/** A float32 tensor. */
export function floats(shape: readonly number[], values: ArrayLike<number>): HostTensor {
  return { shape, dtype: 'float32', data: Float32Array.from(values) };
}

export function longs(shape: readonly number[], values: readonly number[]): HostTensor {
  return { shape, dtype: 'int64', data: BigInt64Array.from(values, (value) => BigInt(value)) };
}

/** A tensor's elements as plain numbers. */
export function numbersOf(tensor: HostTensor): number[] {
  return Array.from(tensor.data as unknown as ArrayLike<number | bigint>, Number);
}
