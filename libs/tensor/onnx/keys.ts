import { createHash } from 'node:crypto';
import type { Tensor } from 'onnxruntime-node';

/** JSON-like text of plain data that tells infinities and NaN apart, unlike JSON. */
export function keyOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(keyOf).join()}]`;
  let text = '{';
  for (const name in value) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (member !== undefined) text += `${JSON.stringify(name)}:${keyOf(member)},`;
  }
  return `${text}}`;
}

/** A short stand-in for a long key. */
export function digest(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

export function tensorKey(tensor: Tensor): string {
  return `${tensor.type}${tensor.dims.join('x')}`;
}
