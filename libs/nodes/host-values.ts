import type { DType, HostTensor, Shape } from '@cdui/tensor/runtime';

/** The number of elements of a shape. */
export function elementCount(shape: Shape): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Host memory of a dtype filled with numbers in row-major order; bool counts everything but 0 as true. */
export function hostTensor(shape: Shape, dtype: DType, values: ArrayLike<number>): HostTensor {
  return { shape, dtype, data: typedArray(dtype, values) };
}

function typedArray(dtype: DType, values: ArrayLike<number>): ArrayBufferView {
  switch (dtype) {
    case 'float32':
      return Float32Array.from(values);
    case 'float64':
      return Float64Array.from(values);
    case 'int32':
      return Int32Array.from(values);
    case 'int64':
      return BigInt64Array.from(Array.from(values, (value) => BigInt(Math.trunc(value))));
    case 'uint8':
      return Uint8Array.from(values);
    case 'bool':
      return Uint8Array.from(Array.from(values, (value) => (value === 0 ? 0 : 1)));
  }
}

/** The elements of host memory as plain numbers. */
export function numbersOf(tensor: HostTensor): Float64Array {
  const { buffer, byteOffset } = tensor.data;
  const count = elementCount(tensor.shape);
  switch (tensor.dtype) {
    case 'float32':
      return Float64Array.from(new Float32Array(buffer, byteOffset, count));
    case 'float64':
      return Float64Array.from(new Float64Array(buffer, byteOffset, count));
    case 'int32':
      return Float64Array.from(new Int32Array(buffer, byteOffset, count));
    case 'int64':
      return Float64Array.from(Array.from(new BigInt64Array(buffer, byteOffset, count), Number));
    case 'uint8':
    case 'bool':
      return Float64Array.from(new Uint8Array(buffer, byteOffset, count));
  }
}

/** Numbers in row-major order as nested lists; a tensor of no dimensions is a lone number. */
export function nested(values: ArrayLike<number>, shape: Shape): unknown {
  const [size, ...rest] = shape;
  if (size === undefined) return values[0];
  const step = elementCount(rest);
  return Array.from({ length: size }, (_, index) =>
    nested(
      Array.from({ length: step }, (_unused, at) => values[index * step + at] ?? 0),
      rest,
    ),
  );
}

/**
 * The shape and elements of nested lists of numbers, or null when they are not rectangular or hold something else. With `truths`
 * true and false count as 1 and 0.
 */
export function flattenGrid(
  grid: unknown,
  truths = false,
): { readonly shape: Shape; readonly values: readonly number[] } | null {
  const shape: number[] = [];
  for (let level: unknown = grid; Array.isArray(level); level = (level as readonly unknown[])[0])
    shape.push(level.length);
  const values: number[] = [];
  const collect = (item: unknown, depth: number): boolean => {
    if (depth === shape.length) {
      const value = truths && typeof item === 'boolean' ? Number(item) : item;
      if (typeof value !== 'number') return false;
      values.push(value);
      return true;
    }
    return Array.isArray(item) && item.length === shape[depth] && item.every((inner) => collect(inner, depth + 1));
  };
  return collect(grid, 0) ? { shape, values } : null;
}
