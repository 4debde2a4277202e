import type { PortValue } from '@cdui/node-sdk';
import { describeValue, isList, isRecord, isTensor } from '@cdui/node-sdk';
import { CodedError } from '@cdui/protocol';
import type { Scope, TensorRef } from '@cdui/tensor/runtime';
import { elements, numbersOf } from './value-facts';

/** The largest tensor that a graph run as a function answers with. */
export const MAX_OUTPUT_ELEMENTS = 65_536;

/**
 * The JSON form of a GraphOutput's value: scalars, texts, lists and objects as they are, tensors as
 * `{__type__: "tensor", shape, dtype, values}` with `values` nested by dimension. Numbers that JSON lacks become null.
 *
 * @throws CodedError `unserializable_output` for models, optimizers and the like, `output_too_large` above 65,536 elements
 */
export async function encodeOutput(scope: Scope, name: string, value: PortValue): Promise<unknown> {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return finite(value);
  if (isTensor(value)) return encodeTensor(scope, name, value);
  if (isList(value)) return Promise.all(value.map((item) => encodeOutput(scope, name, item)));
  if (isRecord(value)) {
    const members = Object.entries(value).map(async ([key, item]) => [key, await encodeOutput(scope, name, item)]);
    return Object.fromEntries(await Promise.all(members));
  }
  throw new CodedError(
    'unserializable_output',
    `Output "${name}" is ${describeValue(value)}, which has no JSON form: connect a tensor, number, text, list or object`,
    { output: name, value: describeValue(value) },
  );
}

async function encodeTensor(scope: Scope, name: string, tensor: TensorRef): Promise<unknown> {
  const count = elements(tensor.shape);
  if (count > MAX_OUTPUT_ELEMENTS) {
    throw new CodedError(
      'output_too_large',
      `Output "${name}" is ${describeValue(tensor)} with ${count} elements; at most ${MAX_OUTPUT_ELEMENTS} fit an answer: reduce it or save it to a file`,
      { output: name, elements: count, max: MAX_OUTPUT_ELEMENTS },
    );
  }
  const host = await scope.read(tensor);
  const flat = numbersOf(host).map((value) => (host.dtype === 'bool' ? value !== 0 : finite(value)));
  return { __type__: 'tensor', shape: [...host.shape], dtype: host.dtype, values: nest(flat, host.shape) };
}

function nest(flat: readonly unknown[], shape: readonly number[]): unknown {
  const [size, ...inner] = shape;
  if (size === undefined) return flat[0] ?? null;
  if (inner.length === 0) return flat;
  const step = elements(inner);
  return Array.from({ length: size }, (_, index) => nest(flat.slice(index * step, (index + 1) * step), inner));
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
