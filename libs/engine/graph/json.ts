// Looked up once: every member that is read passes through here.
const { hasOwn } = Object;
const { isArray } = Array;

export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether the value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !isArray(value);
}

/** A member of its own, or undefined: names such as `constructor` never reach a prototype. */
export function own(object: JsonObject | null | undefined, key: string): unknown {
  // Absent members are the common case, and cheaper to see this way round.
  const value = object?.[key];
  return value !== undefined && hasOwn(object as JsonObject, key) ? value : undefined;
}

/** A value in a few words for a message. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value));
  if (isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

/** A value for an issue's params: plain JSON of bounded size. */
export function plain(value: unknown): unknown {
  if (typeof value === 'string') return shorten(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'boolean' || value === null) return value;
  return value === undefined ? null : show(value);
}

/** Names for a message: `a, b, c, ... (12)`. */
export function listNames(names: readonly string[]): string {
  if (names.length === 0) return '(none)';
  const shown = names.slice(0, 12).map(shorten).join(', ');
  return names.length > 12 ? `${shown}, ... (${names.length})` : shown;
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}

/** Deeper than any sensible file; keeps `JSON.stringify` and `structuredClone`, which recurse, from overflowing. */
export const MAX_NESTING = 200;

/** Whether the value nests lists and objects deeper than `MAX_NESTING`; goes no deeper than that itself. */
export function nestsTooDeep(value: unknown, allowed = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (allowed < 0) return true;
  // Most members are texts and numbers: looked at here, they cost no call.
  if (isArray(value)) return value.some((item) => typeof item === 'object' && nestsTooDeep(item, allowed - 1));
  for (const key in value) {
    const member = (value as JsonObject)[key];
    if (typeof member === 'object' && nestsTooDeep(member, allowed - 1)) return true;
  }
  return false;
}
