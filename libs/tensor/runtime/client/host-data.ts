import { RuntimeError } from '../errors';
import { invalid, show } from '../fields';
import { elements, showShape } from '../ops';
import type { DType, HostTensor } from '../values';

type TypedArrayClass = { new (length: number): ArrayBufferView & { readonly length: number }; readonly name: string };

/** The typed array that holds a dtype. */
export const ARRAYS: Readonly<Record<DType, TypedArrayClass>> = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

/** Throws unless the data is the dtype's typed array with as many elements as the shape says. */
export function checkHostTensor(value: HostTensor, what: string): void {
  const { shape, dtype, data } = value;
  const wanted = ARRAYS[dtype];
  if (!wanted) throw invalid(`${what}: unknown dtype ${show(dtype)}; known: ${Object.keys(ARRAYS).join(', ')}`);
  if (!shape.every((size) => Number.isSafeInteger(size) && size >= 0)) {
    throw invalid(`${what}: a shape has whole sizes of at least 0, got ${showShape(shape)}`);
  }
  // Compared by name because a value may come from another realm (a vm context, a test environment).
  const name = Object.prototype.toString.call(data).slice(8, -1);
  if (name !== wanted.name) throw invalid(`${what}: ${dtype} data must be a ${wanted.name}, got ${name}`);
  const length = (data as ArrayBufferView & { readonly length: number }).length;
  if (length !== elements(shape)) {
    throw new RuntimeError(
      'shape_mismatch',
      `${what}: shape ${showShape(shape)} has ${elements(shape)} elements, but the data has ${length}`,
    );
  }
}

/** The data alone in a buffer of its own: a transport transfers whole buffers, and a small view must not take a large one along. */
export function ownBuffer(data: ArrayBufferView): ArrayBufferView {
  const whole = data.byteOffset === 0 && data.byteLength === data.buffer.byteLength;
  const shared = Object.prototype.toString.call(data.buffer) !== '[object ArrayBuffer]';
  return whole && !shared ? data : copyOf(data);
}

export function copyOf(data: ArrayBufferView): ArrayBufferView {
  return (data as ArrayBufferView & { slice(): ArrayBufferView }).slice();
}
