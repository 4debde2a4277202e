import { isPlainObject, shown } from '../checks';
import { CodedError } from '../errors';

/** Refuses a value that a field must not have. @param path of the field, such as `hello.devices[2].name` */
export type FieldCheck = (value: unknown, path: string) => void;

/** Of everything that has a name: runs, nodes, devices, codes. */
const MAX_NAME = 512;
/** Texts that are read by people. */
const MAX_TEXT = 1024 * 1024;
/** JSON that nobody looks into may be nested so deep; deeper values make recursive readers fail. */
const MAX_DEPTH = 64;
const MAX_ITEMS = 65_536;

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

const RUN_ID = /^[\w-]{1,64}$/;
/** Run ids become names of folders. */
export const runId: FieldCheck = (value, path) => {
  if (typeof value !== 'string' || !RUN_ID.test(value)) refuse(path, value, 'the id of a run');
};

export const truth: FieldCheck = (value, path) => {
  if (typeof value !== 'boolean') refuse(path, value, 'true or false');
};

/** A whole number. */
export function whole(min: number, max = Number.MAX_SAFE_INTEGER): FieldCheck {
  return (value, path) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return;
    refuse(
      path,
      value,
      max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`,
    );
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

export function listOf(check: FieldCheck, max = MAX_ITEMS): FieldCheck {
  return (value, path) => {
    if (!Array.isArray(value) || value.length > max) return refuse(path, value, `a list of at most ${max}`);
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
      name(key, `a key of ${path}`);
      check(item, `${path}.${key}`);
    }
  };
}

/** An object that nobody here looks into. */
export const json: FieldCheck = (value, path) => {
  if (!isPlainObject(value)) refuse(path, value, 'an object');
  if (isDeeper(value, MAX_DEPTH)) refuse(path, value, `nested at most ${MAX_DEPTH} deep`);
};

/** Whether the value is nested deeper than that. */
export function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  for (const item of Array.isArray(value) ? (value as readonly unknown[]) : Object.values(value)) {
    if (typeof item === 'object' && isDeeper(item, depth - 1)) return true;
  }
  return false;
}
