import type { PlainObject } from '../checks';
import { isPlainObject, shown } from '../checks';
import { CodedError } from '../errors';
import { MAX_FRAME_NESTING } from './constants';
import { MAX_PIPE_FRAME_BYTES } from './pipe';

/** Refuses a value that a field must not have. @param path of the field, such as `hello.devices[2].name` */
export type FieldCheck = (value: unknown, path: string) => void;

/** Of what the two programs name themselves: devices, codes, capabilities. What nodes and graphs call something is a text. */
const MAX_NAME = 512;
/** Whatever fits a frame of a run: a run's own words, however many, must not end the connection of its worker. */
const MAX_TEXT = MAX_PIPE_FRAME_BYTES;
/** More than a graph has nodes. */
const MAX_ITEMS = 131_072;

/** @throws CodedError `invalid_frame` */
export function refuse(path: string, value: unknown, rule: string): never {
  throw new CodedError('invalid_frame', `${path} must be ${rule}; it is ${shown(value)}`, { field: path });
}

export const text: FieldCheck = (value, path) => {
  if (typeof value !== 'string' || value.length > MAX_TEXT)
    refuse(path, value, `a text of at most ${MAX_TEXT} characters`);
};

export const name: FieldCheck = (value, path) => {
  if (typeof value !== 'string' || value.length > MAX_NAME)
    refuse(path, value, `a text of at most ${MAX_NAME} characters`);
};

const DIGEST = /^[0-9a-f]{64}$/;
/** Names a file among those that are kept by their content. */
export const sha256: FieldCheck = (value, path) => {
  if (typeof value !== 'string' || !DIGEST.test(value)) refuse(path, value, 'a SHA-256 in hexadecimal digits');
};

const RUN_ID = /^[\w-]{1,64}$/;
/** Run ids become names of folders. */
export const runId: FieldCheck = (value, path) => {
  if (typeof value !== 'string' || !RUN_ID.test(value)) refuse(path, value, 'the id of a run');
};

export const truth: FieldCheck = (value, path) => {
  if (typeof value !== 'boolean') refuse(path, value, 'true or false');
};

/** A whole number that JavaScript counts exactly. */
export function whole(min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): FieldCheck {
  const from = min === Number.MIN_SAFE_INTEGER ? '' : ` from ${min}`;
  const to = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`;
  return (value, path) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return;
    refuse(path, value, `a whole number${from}${to}`);
  };
}

export function number(min = -Infinity, max = Infinity): FieldCheck {
  return (value, path) => {
    if (typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max) return;
    refuse(path, value, min === -Infinity ? 'a number' : `a number from ${min}${max === Infinity ? '' : ` to ${max}`}`);
  };
}

export function oneOf(...known: readonly string[]): FieldCheck {
  return (value, path) => {
    if (!known.some((one) => one === value)) refuse(path, value, `one of ${known.join(', ')}`);
  };
}

export function orNull(check: FieldCheck): FieldCheck {
  return (value, path) => {
    if (value !== null) check(value, path);
  };
}

export function optional(check: FieldCheck): FieldCheck {
  return (value, path) => {
    if (value !== undefined) check(value, path);
  };
}

export function listOf(check: FieldCheck, max = MAX_ITEMS, min = 0): FieldCheck {
  const rule = min === 0 ? `a list of at most ${max}` : `a list of ${min} to ${max}`;
  return (value, path) => {
    if (!Array.isArray(value) || value.length > max || value.length < min) return refuse(path, value, rule);
    for (let index = 0; index < value.length; index++) check(value[index], `${path}[${index}]`);
  };
}

/** An object whose named fields are checked; others are let through. */
export function shape(fields: Readonly<Record<string, FieldCheck>>): FieldCheck {
  const entries = Object.entries(fields);
  return (value, path) => {
    if (!isPlainObject(value)) return refuse(path, value, 'an object');
    for (const [field, check] of entries) check(value[field], `${path}.${field}`);
  };
}

/** An object that is a table: every value is checked. */
export function tableOf(check: FieldCheck): FieldCheck {
  return (value, path) => {
    if (!isPlainObject(value)) return refuse(path, value, 'an object');
    for (const [key, item] of Object.entries(value)) {
      // Whoever copies such an entry into another table changes what that table is.
      if (key.length > MAX_NAME || key === '__proto__')
        refuse(path, key, `a table whose keys are names of at most ${MAX_NAME} characters`);
      check(item, `${path}.${key}`);
    }
  };
}

/** An object that nobody here looks into. */
export const open: FieldCheck = (value, path) => {
  if (!isPlainObject(value)) refuse(path, value, 'an object');
};

/** Refuses what is nested deeper than any reader has to bear, be the field known or not. */
export function shallow(frame: PlainObject, path: string): void {
  for (const [field, value] of Object.entries(frame)) {
    if (isDeeper(value, MAX_FRAME_NESTING))
      refuse(`${path}.${field.slice(0, MAX_NAME)}`, value, `nested at most ${MAX_FRAME_NESTING} deep`);
  }
}

/** Whether the value is nested deeper than that. */
function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  for (const item of Array.isArray(value) ? (value as readonly unknown[]) : Object.values(value)) {
    if (typeof item === 'object' && isDeeper(item, depth - 1)) return true;
  }
  return false;
}
