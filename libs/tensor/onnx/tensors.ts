import { Tensor } from './ort';
import { elements, type DType, type HostTensor, type NormalRange, type Shape, type TensorMeta } from '../runtime';

export type NumberArray = Float32Array | Float64Array | Int32Array | Uint8Array;
export type DataArray = NumberArray | BigInt64Array;

interface ArrayType {
  new (length: number): DataArray;
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): DataArray;
  readonly BYTES_PER_ELEMENT: number;
}

const ARRAYS: Readonly<Record<DType, ArrayType>> = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

export function bytesOf(dtype: DType): number {
  return ARRAYS[dtype].BYTES_PER_ELEMENT;
}

export function newData(dtype: DType, length: number): DataArray {
  return new ARRAYS[dtype](length);
}

/** Bytes as elements; a copy only where they are not aligned. */
export function viewAs(dtype: DType, bytes: ArrayBufferView): DataArray {
  const type = ARRAYS[dtype];
  const { buffer, byteOffset, byteLength } = bytes;
  const aligned = byteOffset % type.BYTES_PER_ELEMENT === 0;
  return aligned
    ? new type(buffer, byteOffset, byteLength / type.BYTES_PER_ELEMENT)
    : new type(new Uint8Array(buffer, byteOffset, byteLength).slice().buffer);
}

/** A tensor over `data`, which must not change afterwards. */
export function tensorOf(dtype: DType, shape: Shape, data: DataArray): Tensor {
  return new Tensor(dtype, data, shape);
}

export function metaOf(tensor: Tensor): TensorMeta {
  return { shape: tensor.dims, dtype: tensor.type as DType };
}

export function dataOf(tensor: Tensor): DataArray {
  return tensor.data as DataArray;
}

/** Another tensor over the same data: the record of gradients tells tensors apart by identity. */
export function aliasOf(tensor: Tensor, shape: Shape = tensor.dims): Tensor {
  return tensorOf(tensor.type as DType, shape, dataOf(tensor));
}

/** float32 without dimensions. */
export function scalarTensor(value: number): Tensor {
  return tensorOf('float32', [], Float32Array.of(value));
}

export function filled(dtype: DType, shape: Shape, value: number): Tensor {
  const data = newData(dtype, elements(shape));
  if (value !== 0) {
    if (data instanceof BigInt64Array) data.fill(BigInt(Math.trunc(value)));
    else data.fill(dtype === 'bool' ? 1 : value);
  }
  return tensorOf(dtype, shape, data);
}

/** Plain numbers as elements of a dtype: towards zero for integers, 0 or 1 for bool. */
export function fromNumbers(dtype: DType, values: ArrayLike<number>): DataArray {
  const data = newData(dtype, values.length);
  if (data instanceof BigInt64Array) {
    for (let i = 0; i < data.length; i++) data[i] = BigInt(Math.trunc(values[i]!));
  } else if (dtype === 'bool') {
    for (let i = 0; i < data.length; i++) data[i] = values[i] ? 1 : 0;
  } else {
    for (let i = 0; i < data.length; i++) data[i] = values[i]!;
  }
  return data;
}

/** The tensor in another dtype; itself where it has it already. */
export function converted(tensor: Tensor, dtype: DType): Tensor {
  if (tensor.type === dtype) return tensor;
  const data = dataOf(tensor);
  const numbers = data instanceof BigInt64Array ? Float64Array.from(data, Number) : data;
  return tensorOf(dtype, tensor.dims, fromNumbers(dtype, numbers));
}

/** A copy in memory of its own. */
export function hostCopy(tensor: Tensor): HostTensor {
  return { shape: tensor.dims, dtype: tensor.type as DType, data: dataOf(tensor).slice() };
}

/** The elements that normalised ranges pick, copied; one range per dimension. */
export function sliceCopy(tensor: Tensor, ranges: readonly NormalRange[]): HostTensor {
  const source = dataOf(tensor);
  const strides: number[] = new Array(tensor.dims.length);
  for (let axis = tensor.dims.length - 1, stride = 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= tensor.dims[axis]!;
  }
  let start = 0;
  const shape: number[] = [];
  const steps: number[] = [];
  ranges.forEach((range, axis) => {
    if ('index' in range) {
      start += range.index * strides[axis]!;
      return;
    }
    // A negative bound stands for "before the first element" in a backward range.
    const first = range.start < 0 ? -1 : range.start;
    const stop = range.stop < 0 ? -1 : range.stop;
    start += Math.max(first, 0) * strides[axis]!;
    shape.push(Math.max(0, Math.ceil((stop - first) / range.step)));
    steps.push(range.step * strides[axis]!);
  });
  const dtype = tensor.type as DType;
  const out = newData(dtype, elements(shape));
  const place = new Array<number>(shape.length).fill(0);
  for (let at = 0, from = start; at < out.length; at++) {
    out[at] = source[from]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += steps[axis]!;
      if (++place[axis]! < shape[axis]!) break;
      from -= steps[axis]! * shape[axis]!;
      place[axis] = 0;
    }
  }
  return { shape, dtype, data: out };
}
