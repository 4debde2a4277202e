import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest runs tests in a realm of its own, with typed arrays of its own. Native modules (onnxruntime-node, koffi) and values that
 * arrive from threads use the outer realm's, so `instanceof Float32Array` would be false on either side. Sharing the outer
 * classes makes a test see what a program sees.
 */
const SHARED = {
  ArrayBuffer,
  SharedArrayBuffer,
  DataView,
  Atomics,
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
};

// A test that loads the library itself sets only its own copy of the environment: see libs/tensor/onnx/no-telemetry.ts.
process.env['ORT_DISABLE_TELEMETRY'] = '1';

export default class NodeEnvironment extends TestEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    Object.assign(this.global, SHARED);
  }
}
