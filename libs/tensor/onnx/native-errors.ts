import type { RuntimeErrorCode } from '../runtime';

/** What an error of the native library means. */
export interface NativeCause {
  readonly code: RuntimeErrorCode;
  readonly message: string;
}

/** What onnxruntime, the C++ library and V8 say when there is no memory. */
const OUT_OF_MEMORY =
  /bad_alloc|failed to allocate|out of memory|array buffer allocation failed|invalid typed array length/i;
const INDEX = /idx=(-?\d+) must be within the inclusive range \[-?\d+,(-?\d+)\]/;
/** Some kernels do not say which. */
const SOME_INDEX = /out of range value in index tensor/i;
const WAY_OUT =
  'correct the data, or make the layer larger (out_features for classes, num_embeddings for an Embedding)';

/**
 * The code for an error of the native library, and words for those that the data of a user can cause. What is not known
 * keeps its own words.
 */
export function nativeCause(message: string): NativeCause {
  const index = INDEX.exec(message);
  if (index) {
    const [found, largest] = [Number(index[1]), Number(index[2])];
    // Negative ones enter the kernels as the first that is too large: they would count from the end otherwise.
    const value = found === largest + 1 ? `${found} (or negative)` : String(found);
    return {
      code: 'invalid_argument',
      message: `an index or a class number is ${value}, it must lie between 0 and ${largest}: ${WAY_OUT}`,
    };
  }
  if (SOME_INDEX.test(message)) {
    return {
      code: 'invalid_argument',
      message: `an index or a class number is negative or too large for what it picks from: ${WAY_OUT}`,
    };
  }
  if (OUT_OF_MEMORY.test(message)) {
    return { code: 'out_of_memory', message: `not enough memory (${message}): use smaller shapes or batches` };
  }
  return { code: 'runtime_failed', message };
}
