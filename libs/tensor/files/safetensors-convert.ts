import type { DType, HostTensor } from '../runtime';
import type { FileTensor } from './safetensors-header';

/** A tensor of a file as host memory; takes `bytes` over where the element type is one of ours. */
export function fromFile(tensor: Pick<FileTensor, 'dtype' | 'shape'>, bytes: Uint8Array): HostTensor {
  const { dtype, shape } = tensor;
  const of = (type: DType, data: ArrayBufferView): HostTensor => ({ shape, dtype: type, data });
  const { buffer } = bytes;
  switch (dtype) {
    case 'F32':
      return of('float32', new Float32Array(buffer));
    case 'F64':
      return of('float64', new Float64Array(buffer));
    case 'I32':
      return of('int32', new Int32Array(buffer));
    case 'I64':
      return of('int64', new BigInt64Array(buffer));
    case 'U8':
      return of('uint8', bytes);
    case 'BOOL':
      return of(
        'bool',
        bytes.map((value) => (value ? 1 : 0)),
      );
    case 'I8':
      return of('int32', Int32Array.from(new Int8Array(buffer)));
    case 'I16':
      return of('int32', Int32Array.from(new Int16Array(buffer)));
    case 'U16':
      return of('int32', Int32Array.from(new Uint16Array(buffer)));
    case 'U32':
      return of(
        'int64',
        BigInt64Array.from(new Uint32Array(buffer), (value) => BigInt(value)),
      );
    case 'U64':
      return of('int64', new BigInt64Array(buffer));
    case 'F16':
      return of('float32', Float32Array.from(new Uint16Array(buffer), halfToNumber));
    case 'BF16':
      return of('float32', new Float32Array(Uint32Array.from(new Uint16Array(buffer), (bits) => bits << 16).buffer));
  }
}

/** The value of IEEE 754 half precision bits. */
export function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
