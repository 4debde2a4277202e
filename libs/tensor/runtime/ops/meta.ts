import { RuntimeError } from '../errors';
import { invalid } from '../fields';
import type { DType, Shape } from '../values';
import type { TensorMeta } from '../vocabulary';

export function mismatch(message: string): RuntimeError {
  return new RuntimeError('shape_mismatch', message);
}

/** As PyTorch prints a size: `[2, 3]`. */
export function showShape(shape: Shape): string {
  return `[${shape.join(', ')}]`;
}

export function elements(shape: Shape): number {
  let count = 1;
  for (const size of shape) count *= size;
  return count;
}

export const DTYPES = ['float32', 'float64', 'int32', 'int64', 'uint8', 'bool'] as const satisfies readonly DType[];

export function isFloat(dtype: DType): boolean {
  return dtype === 'float32' || dtype === 'float64';
}

const RANK: Readonly<Record<DType, number>> = { bool: 0, uint8: 1, int32: 2, int64: 3, float32: 4, float64: 5 };

function category(dtype: DType): number {
  return dtype === 'bool' ? 0 : isFloat(dtype) ? 2 : 1;
}

/**
 * PyTorch's type promotion: bool < uint8 < int32 < int64 < float32 < float64, except that a tensor of no dimensions
 * does not widen one with dimensions of the same category (bool, integer, float).
 */
export function promote(inputs: readonly TensorMeta[]): DType {
  let whole: DType | null = null;
  let scalar: DType | null = null;
  for (const { dtype, shape } of inputs) {
    if (shape.length > 0) {
      if (whole === null || RANK[dtype] > RANK[whole]) whole = dtype;
    } else if (scalar === null || RANK[dtype] > RANK[scalar]) scalar = dtype;
  }
  if (whole === null) return scalar ?? 'float32';
  return scalar !== null && category(scalar) > category(whole) ? scalar : whole;
}

/** The dtype of a result that is always floating (exp, div, mean of quotients): float32 for integers and bool. */
export function floating(dtype: DType): DType {
  return isFloat(dtype) ? dtype : 'float32';
}

/** The common shape of inputs under broadcasting. */
export function broadcast(...shapes: readonly Shape[]): Shape {
  return shapes.reduce((a, b) => {
    if (a.length === b.length && a.every((size, axis) => size === b[axis])) return a;
    const rank = Math.max(a.length, b.length);
    const result: number[] = [];
    for (let axis = 0; axis < rank; axis++) {
      const x = a[a.length - rank + axis] ?? 1;
      const y = b[b.length - rank + axis] ?? 1;
      if (x !== y && x !== 1 && y !== 1) {
        throw mismatch(
          `The size of tensor a (${x}) must match the size of tensor b (${y}) at non-singleton dimension ${axis}: ` +
            `cannot broadcast ${showShape(a)} with ${showShape(b)}`,
        );
      }
      result.push(x === 1 ? y : x);
    }
    return result;
  });
}

/** A dimension counted from the start; negative ones count from the end. A tensor of no dimensions allows 0 and -1. */
export function resolveDim(dim: number, rank: number): number {
  const span = Math.max(rank, 1);
  if (dim < -span || dim >= span) {
    throw invalid(`Dimension out of range (expected to be in range of [${-span}, ${span - 1}], but got ${dim})`);
  }
  return dim < 0 ? dim + span : dim;
}

/** Several distinct dimensions, resolved. */
export function resolveDims(dims: readonly number[], rank: number): readonly number[] {
  const resolved = dims.map((dim) => resolveDim(dim, rank));
  const repeated = resolved.find((dim, at) => resolved.indexOf(dim) !== at);
  if (repeated !== undefined)
    throw invalid(`dim ${repeated} appears multiple times in the list of dims ${showShape(dims)}`);
  return resolved;
}

export function requireFloat(input: TensorMeta, what: string): void {
  if (!isFloat(input.dtype)) {
    throw invalid(`${what} needs a float32 or float64 tensor, got ${input.dtype}: cast it first`);
  }
}

export function requireIndices(input: TensorMeta, what: string): void {
  if (input.dtype !== 'int64' && input.dtype !== 'int32') {
    throw invalid(`${what}: expected indices of dtype int64 or int32, got ${input.dtype}`);
  }
}

export const IMAGES = ['batch', 'channels', 'height', 'width'] as const;
export const SIGNALS = ['batch', 'channels', 'length'] as const;
export const SEQUENCES = ['batch', 'positions', 'features'] as const;

/** @param axes what the dimensions mean, for the message */
export function requireRank(input: TensorMeta, axes: readonly string[], what: string): void {
  if (input.shape.length !== axes.length) {
    throw mismatch(
      `Expected ${axes.length}D input to ${what} [${axes.join(', ')}], but got input of size: ${showShape(input.shape)}: reshape it first`,
    );
  }
}
