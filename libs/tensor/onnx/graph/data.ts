import { RuntimeError } from '../../runtime/errors';
import type { TensorMeta } from '../../runtime';
import type { GraphDType, Value } from './value';

export type NumericArray = ArrayBufferView & { readonly length: number };

/** Plain numbers as the typed array of a dtype; bool takes zero and non-zero. */
export function typedData(dtype: GraphDType, values: ArrayLike<number>): NumericArray {
  switch (dtype) {
    case 'float32':
      return Float32Array.from(values);
    case 'float64':
      return Float64Array.from(values);
    case 'int32':
      return Int32Array.from(values);
    case 'int64':
      return BigInt64Array.from(Array.from(values), (value) => BigInt(value));
    case 'uint8':
      return Uint8Array.from(values);
    case 'bool':
      return Uint8Array.from(values, (value) => (value ? 1 : 0));
    case 'float16':
      throw new RuntimeError('unsupported', 'constants of dtype float16 are not supported: cast a float32 constant');
  }
}

export function isFloating(dtype: GraphDType): boolean {
  return dtype === 'float32' || dtype === 'float64' || dtype === 'float16';
}

/** A value as the vocabulary sees it; float16 never leaves a graph. */
export function meta(value: Value): TensorMeta {
  return { shape: value.shape, dtype: value.dtype === 'float16' ? 'float32' : value.dtype };
}
