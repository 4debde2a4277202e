import { CodedError } from '@cdui/protocol';

export const MAX_NAME_LENGTH = 128;

/**
 * The file of a graph's name: `<name>.json` with everything but letters, digits, `_` and `-` as `_`, so that graphs look the same on every file
 * system. Two names may share a file; saving then says that there is one already.
 * @throws CodedError `invalid_name`
 */
export function graphFileName(name: unknown): string {
  if (typeof name !== 'string') throw refusal(name, 'it must be a text');
  const trimmed = name.trim();
  if (trimmed === '') throw refusal(name, 'it must not be empty');
  if (trimmed.length > MAX_NAME_LENGTH) throw refusal(name, `it must not be longer than ${MAX_NAME_LENGTH} characters`);
  if (/[/\\\p{Cc}]/u.test(trimmed) || /^\.+$/.test(trimmed)) {
    throw refusal(name, 'it names a graph, not a path: leave out "/", "\\" and control characters');
  }
  return `${trimmed.replace(/[^A-Za-z0-9_-]/gu, '_')}.json`;
}

function refusal(name: unknown, why: string): CodedError {
  const shown =
    typeof name === 'string' ? JSON.stringify(name.slice(0, 200)) : String(JSON.stringify(name)).slice(0, 50);
  return new CodedError('invalid_name', `The name ${shown} cannot be used: ${why}`, { field: 'name', value: shown });
}
