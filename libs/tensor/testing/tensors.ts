import type { DType, HostTensor, Scope, Shape, TensorRef } from '../runtime';

export type Numbers = readonly number[];

/** A deterministic stream of numbers in [0, 1). */
export function stream(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function count(shape: Shape): number {
  return shape.reduce((product, size) => product * size, 1);
}

export function host(dtype: DType, shape: Shape, values: ArrayLike<number>): HostTensor {
  const numbers = Array.from(values);
  switch (dtype) {
    case 'float32':
      return { dtype, shape, data: Float32Array.from(numbers) };
    case 'float64':
      return { dtype, shape, data: Float64Array.from(numbers) };
    case 'int32':
      return { dtype, shape, data: Int32Array.from(numbers) };
    case 'int64':
      return { dtype, shape, data: BigInt64Array.from(numbers, BigInt) };
    default:
      return { dtype, shape, data: Uint8Array.from(numbers) };
  }
}

/** Float32 numbers in [-1, 1), always the same for one seed. */
export function randoms(shape: Shape, seed = 1): HostTensor {
  const next = stream(seed);
  return host(
    'float32',
    shape,
    Float32Array.from({ length: count(shape) }, () => next() * 2 - 1),
  );
}

export function numbersOf(tensor: HostTensor): number[] {
  return Array.from(tensor.data as unknown as ArrayLike<number | bigint>, Number);
}

export async function readNumbers(scope: Scope, tensor: TensorRef): Promise<number[]> {
  return numbersOf(await scope.read(tensor));
}

/** Each number within `tolerance` of the expected one, relative to the largest of them (at least 1). NaN fits nothing. */
export function expectClose(actual: Numbers, expected: Numbers, tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  const allowed = tolerance * Math.max(1, ...expected.map(Math.abs));
  const wrong = actual.flatMap((value, at) => {
    return Math.abs(value - expected[at]!) <= allowed ? [] : [{ at, value, expected: expected[at] }];
  });
  expect(wrong).toEqual([]);
}
