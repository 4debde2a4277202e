import { createHash } from 'node:crypto';
import { CodedError } from '@cdui/protocol';

/** In characters as people count them: code points. */
export const MAX_NAME_LENGTH = 128;
/** File systems take names of 255 bytes; a draft's name is longer than its file's. */
const MAX_FILE_BYTES = 200;

/**
 * The file of a graph's name: `<name>.json` with everything but letters and digits of any script, `_` and `-` as `_`, so that graphs look the same on
 * every file system. Two names may share a file; saving then says that there is one already. A name that is too long for a file is cut, and told
 * apart by its hash.
 * @throws CodedError `invalid_name`
 */
export function graphFileName(name: unknown): string {
  const stem = graphName(name)
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}_-]/gu, '_');
  if (Buffer.byteLength(stem) <= MAX_FILE_BYTES) return `${stem}.json`;
  const hash = createHash('sha256').update(stem).digest('hex').slice(0, 12);
  let kept = '';
  for (const character of stem) {
    if (Buffer.byteLength(kept) + Buffer.byteLength(character) > MAX_FILE_BYTES - hash.length - 1) break;
    kept += character;
  }
  return `${kept}-${hash}.json`;
}

/**
 * The name without the space around it.
 * @throws CodedError `invalid_name`
 */
export function graphName(name: unknown): string {
  if (typeof name !== 'string') throw refusal(name, 'it must be a text');
  const trimmed = name.trim();
  if (trimmed === '') throw refusal(name, 'it must not be empty');
  const length = [...trimmed].length;
  if (length > MAX_NAME_LENGTH) {
    throw refusal(name, `it must not be longer than ${MAX_NAME_LENGTH} characters (it has ${length})`);
  }
  if (/[/\\\p{Cc}]/u.test(trimmed) || /^\.+$/.test(trimmed)) {
    throw refusal(name, 'it names a graph, not a path: leave out "/", "\\" and control characters');
  }
  if (/\p{Cs}/u.test(trimmed)) throw refusal(name, 'it holds half a character (a lone surrogate), which is no text');
  return trimmed;
}

/** The name, if it is one that a graph may have; else null. */
export function usableName(name: unknown): string | null {
  try {
    return graphName(name);
  } catch {
    return null;
  }
}

function refusal(name: unknown, why: string): CodedError {
  const shown =
    typeof name === 'string' ? JSON.stringify(name.slice(0, 200)) : String(JSON.stringify(name)).slice(0, 50);
  return new CodedError('invalid_name', `The name ${shown} cannot be used: ${why}`, { field: 'name', value: shown });
}
