import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import type { ParamReader, PortValue } from '@cdui/node-sdk';
import type { HostTensor } from '@cdui/tensor/runtime';
import { PNG } from 'pngjs';

/** What a graph run as a function may receive. */
export const GRAPH_VALUE_TYPES = ['string', 'number', 'integer', 'boolean', 'json', 'image'] as const;
export type GraphValueType = (typeof GRAPH_VALUE_TYPES)[number];

const MAX_PIXELS = 25_000_000;
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Parses the text of the param `default`, for runs that nobody calls with a value. An empty text is null but for a string. */
export function parseDefault(type: Exclude<GraphValueType, 'image'>, text: string, params: ParamReader): PortValue {
  if (type === 'string') return text;
  if (text.trim() === '') return null;
  if (type === 'boolean') {
    const word = text.trim().toLowerCase();
    return word === 'true' || word === 'false' ? word === 'true' : params.reject('default', 'must be true or false');
  }
  if (type === 'json') {
    try {
      return JSON.parse(text) as PortValue;
    } catch {
      return params.reject('default', 'must be JSON');
    }
  }
  return numberOf(type, Number(text), () => params.reject('default', `must be ${WANTED[type]}`));
}

/** Checks a value that the caller gave: no text for a number, no truth value for a number; 3.0 is whole. */
export function checkGiven(type: Exclude<GraphValueType, 'image'>, value: unknown, params: ParamReader): PortValue {
  const refuse = (): never => params.reject('value', `must be ${WANTED[type]}`);
  switch (type) {
    case 'string':
      return typeof value === 'string' ? value : refuse();
    case 'boolean':
      return typeof value === 'boolean' ? value : refuse();
    case 'json':
      return value as PortValue;
    default:
      return typeof value === 'number' ? numberOf(type, value, refuse) : refuse();
  }
}

const WANTED: Readonly<Record<Exclude<GraphValueType, 'image'>, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  json: 'JSON',
};

function numberOf(type: 'number' | 'integer', value: number, refuse: () => never): number {
  return Number.isFinite(value) && (type === 'number' || Number.isInteger(value)) ? value : refuse();
}

/** An image as base64 or as a data URL: RGB, [3, H, W], float32 from 0 to 1. */
export function imageFromBase64(value: unknown, params: ParamReader): HostTensor {
  if (typeof value !== 'string') return params.reject('value', 'must be an image as base64 or as a data URL');
  const base64 = /^data:image\/[a-z0-9.+-]+;base64,(.*)$/is.exec(value)?.[1] ?? value;
  return decode(Buffer.from(base64, 'base64'), (rule) => params.reject('value', rule));
}

/** An image file below `folder`; a link that leads out of it is outside. */
export function imageFromFile(folder: string, params: ParamReader): HostTensor {
  const file = resolve(folder, params.text('default'));
  const found = realFile(file);
  const inside = relative(realFile(folder) ?? folder, found ?? file);
  if (inside.startsWith('..') || isAbsolute(inside)) params.reject('default', `must name a file inside ${folder}`);
  if (found === null || !statSync(found).isFile()) {
    return params.reject('default', `must name a file that exists in ${folder}`);
  }
  return decode(readFileSync(found), (rule) => params.reject('default', rule));
}

function realFile(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function decode(bytes: Buffer, refuse: (rule: string) => never): HostTensor {
  if (!bytes.subarray(0, 8).equals(PNG_SIGNATURE) || bytes.length < 24) refuse('must be a PNG image');
  // Width and height stand at a fixed place: a bomb is refused before it is unpacked.
  if (bytes.readUInt32BE(16) * bytes.readUInt32BE(20) > MAX_PIXELS) refuse(`must have at most ${MAX_PIXELS} pixels`);
  let image: PNG;
  try {
    image = PNG.sync.read(bytes);
  } catch (error) {
    return refuse(`must be a PNG image that can be read (${error instanceof Error ? error.message : String(error)})`);
  }
  const { width, height, data } = image;
  const plane = width * height;
  const values = new Float32Array(3 * plane);
  for (let pixel = 0; pixel < plane; pixel++) {
    for (let channel = 0; channel < 3; channel++) {
      values[channel * plane + pixel] = (data[pixel * 4 + channel] ?? 0) / 255;
    }
  }
  return { shape: [3, height, width], dtype: 'float32', data: values };
}
