import { RuntimeError } from './errors';

/** Reads one argument: `undefined` means not given. Throws `invalid_argument` or `unsupported` naming the argument and its value. */
export type Field<T> = (value: unknown, name: string) => T;
export type Schema = Readonly<Record<string, Field<unknown>>>;
export type Fields<S extends Schema> = { [K in keyof S]: ReturnType<S[K]> };

export function invalid(message: string): RuntimeError {
  return new RuntimeError('invalid_argument', message);
}

export function unsupported(message: string): RuntimeError {
  return new RuntimeError('unsupported', message);
}

/** A value as it reads in a message; long values are cut. */
export function show(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'bigint') return `${value}n`;
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text.replaceAll(',', ', ');
}

/** Reads an object of arguments by its schema; an unknown name is an error that lists the known ones. */
export function readFields<S extends Schema>(schema: S, raw: unknown, what: string): Fields<S> {
  if (raw !== undefined && (raw === null || typeof raw !== 'object' || Array.isArray(raw))) {
    throw invalid(`the arguments of ${what} must be an object, got ${show(raw)}`);
  }
  const given = (raw ?? {}) as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(schema, name) && given[name] !== undefined) {
      const known = Object.keys(schema);
      throw invalid(
        `${what} got an unexpected argument '${name}'; ` +
          (known.length ? `it knows: ${known.join(', ')}` : 'it takes no arguments'),
      );
    }
  }
  const result: Record<string, unknown> = {};
  for (const name in schema) result[name] = schema[name]!(given[name], `${what}: ${name}`);
  return result as Fields<S>;
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
  /** The value itself is not allowed, only more than it. */
  readonly above?: number;
}

function checkNumber(value: unknown, name: string, bounds: Bounds, whole: boolean): number {
  if (typeof value !== 'number' || Number.isNaN(value) || (whole && !Number.isSafeInteger(value))) {
    throw invalid(`${name} must be ${whole ? 'an integer' : 'a number'}, got ${show(value)}`);
  }
  const { min, max, above } = bounds;
  if (min !== undefined && value < min) throw invalid(`${name} must be at least ${min}, got ${value}`);
  if (max !== undefined && value > max) throw invalid(`${name} must be at most ${max}, got ${value}`);
  if (above !== undefined && value <= above) throw invalid(`${name} must be greater than ${above}, got ${value}`);
  return value;
}

function orDefault<T>(fallback: T | undefined, read: Field<T>): Field<T> {
  return (value, name) => {
    if (value !== undefined) return read(value, name);
    if (fallback === undefined) throw invalid(`${name} is missing: it has no default`);
    return fallback;
  };
}

export function int(options: Bounds & { readonly default?: number } = {}): Field<number> {
  return orDefault(options.default, (value, name) => checkNumber(value, name, options, true));
}

export function num(options: Bounds & { readonly default?: number } = {}): Field<number> {
  return orDefault(options.default, (value, name) => checkNumber(value, name, options, false));
}

export function bool(fallback?: boolean): Field<boolean> {
  return orDefault(fallback, (value, name) => {
    if (typeof value !== 'boolean') throw invalid(`${name} must be true or false, got ${show(value)}`);
    return value;
  });
}

export function oneOf<const T extends string>(values: readonly T[], fallback?: NoInfer<T>): Field<T> {
  return orDefault<T>(fallback, (value, name) => {
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) throw invalid(`${name} must be one of ${values.join(', ')}, got ${show(value)}`);
    return found;
  });
}

export type IntPair = readonly [number, number];

/** A number or [height, width]; always read as [height, width]. */
export function pair(options: { readonly min: number; readonly default?: number }): Field<IntPair> {
  const fallback = options.default === undefined ? undefined : ([options.default, options.default] as const);
  return orDefault<IntPair>(fallback, (value, name) => {
    if (Array.isArray(value)) {
      if (value.length !== 2) {
        throw invalid(`${name} must be an integer or two integers [height, width], got ${show(value)}`);
      }
      return [checkNumber(value[0], name, options, true), checkNumber(value[1], name, options, true)];
    }
    const both = checkNumber(value, name, options, true);
    return [both, both];
  });
}

export function intList(options: Bounds & { readonly default?: readonly number[] } = {}): Field<readonly number[]> {
  return orDefault(options.default, (value, name) => {
    if (!Array.isArray(value)) throw invalid(`${name} must be a list of integers, got ${show(value)}`);
    return value.map((item) => checkNumber(item, name, options, true));
  });
}

export function numberList(options: Bounds = {}): Field<readonly number[]> {
  return orDefault<readonly number[]>(undefined, (value, name) => {
    if (!Array.isArray(value)) throw invalid(`${name} must be a list of numbers, got ${show(value)}`);
    return value.map((item) => checkNumber(item, name, options, false));
  });
}

export function optional<T>(field: Field<T>): Field<T | undefined> {
  return (value, name) => (value === undefined ? undefined : field(value, name));
}

/** Null, or not given, reads as null. */
export function nullable<T>(field: Field<T>): Field<T | null> {
  return (value, name) => (value === undefined || value === null ? null : field(value, name));
}

/** An argument PyTorch has of which only one value works here. */
export function only<T extends string | number | boolean | null>(
  allowed: T,
  others: string = 'other values are',
): Field<T> {
  return (value, name) => {
    if (value === undefined || value === allowed || (allowed === null && value === null)) return allowed;
    throw unsupported(
      `${name} = ${show(value)} is not supported: leave it at ${show(allowed)} (${others} not available)`,
    );
  };
}

/** An argument that PyTorch has and that changes no result (`inplace`). */
export const ignored: Field<undefined> = () => undefined;
