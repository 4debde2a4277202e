/** Dtypes that cross the seam. float16 and bfloat16 live only inside a runtime; reading them gives float32. */
export type DType = 'float32' | 'float64' | 'int32' | 'int64' | 'uint8' | 'bool';
export type Shape = readonly number[];
/** Host memory, row-major. int64 is a BigInt64Array; bool and uint8 are a Uint8Array. */
export interface HostTensor {
  readonly shape: Shape;
  readonly dtype: DType;
  readonly data: ArrayBufferView;
}
/** 'cpu', 'cuda:0', 'mps:0'. */
export type Device = string;
