/**
 * The one JSON text of a value (RFC 8785): members in the order of their UTF-16 code units, no white space, numbers as ECMAScript
 * prints them. Members without a value are left out, as `JSON.stringify` does.
 *
 * @throws TypeError on numbers that JSON does not have
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`JSON has no number ${value}`);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members: Readonly<Record<string, unknown>> = { ...value };
  const parts = Object.keys(members)
    .sort()
    .filter((key) => members[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(members[key])}`);
  return `{${parts.join(',')}}`;
}
