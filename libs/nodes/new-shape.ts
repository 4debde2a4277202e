import type { ParamReader } from '@cdui/node-sdk';
import type { Shape } from '@cdui/tensor/runtime';
import { elementCount } from './host-values';

/** 2 GiB of the widest numbers: a larger tensor is a slip of the keyboard. */
const MAX_ELEMENTS = 2 ** 28;

/** The shape of a tensor that a node makes, from its param: sizes separated by commas. */
export function newShape(params: ParamReader, name = 'shape'): Shape {
  const shape = params.ints(name);
  if (shape.some((size) => size < 0)) params.reject(name, 'must be sizes of at least 0');
  if (elementCount(shape) > MAX_ELEMENTS) params.reject(name, `must hold at most ${MAX_ELEMENTS} elements`);
  return shape;
}
