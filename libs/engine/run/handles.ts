import type { PortValue } from '@cdui/node-sdk';
import { handlesOf } from '@cdui/node-sdk';
import type { Handle, Scope } from '@cdui/tensor/runtime';

/** A node's outputs, port -> value. */
export type Outputs = Readonly<Record<string, PortValue>>;

/** Every handle in a node's outputs, once; private ports (`__...`) do not leave the node. */
export function handlesOfOutputs(outputs: Outputs): readonly Handle[] {
  const found = new Set<Handle>();
  for (const [port, value] of Object.entries(outputs)) {
    if (!port.startsWith('__')) for (const handle of handlesOf(value)) found.add(handle);
  }
  return [...found];
}

/** Takes a reference to each: the scope's own where it made the handle, one more where a node only passed it on. */
export function hold(handles: readonly Handle[], scope: Scope): void {
  for (const handle of handles) scope.keep(handle);
}

const BYTES_PER_ELEMENT: Readonly<Record<string, number>> = { float64: 8, int64: 8, uint8: 1, bool: 1 };

/** Bytes of the tensor, or of the weights of the model, that the handle keeps alive; 0 for everything else. */
export function bytesOf(handle: Handle): number {
  const tensors: { shape: readonly number[]; dtype: string }[] = [];
  if ('shape' in handle && 'dtype' in handle) tensors.push(handle as Handle & (typeof tensors)[number]);
  if ('parameters' in handle) tensors.push(...(handle.parameters as typeof tensors));
  return tensors.reduce((sum, { shape, dtype }) => {
    return sum + shape.reduce((count, size) => count * size, 1) * (BYTES_PER_ELEMENT[dtype] ?? 4);
  }, 0);
}

export function release(handles: readonly Handle[]): void {
  for (const handle of handles) handle.release();
}
