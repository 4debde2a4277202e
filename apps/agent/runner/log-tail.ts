import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** What of a run's output travels with the report of a crash. */
export const TAIL_BYTES = 4096;

/** The last bytes of a text file, from the first whole character on; empty when there is nothing to read. */
export function tailOf(path: string, bytes: number = TAIL_BYTES): string {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(file);
    const from = Math.max(0, size - bytes);
    const buffer = Buffer.alloc(size - from);
    const read = readSync(file, buffer, 0, buffer.length, from);
    return buffer.subarray(from > 0 ? wholeFrom(buffer) : 0, read).toString('utf8');
  } catch {
    return '';
  } finally {
    closeSync(file);
  }
}

/** Where the first character begins that is not cut: bytes that go on with another one look like 10xxxxxx. */
function wholeFrom(buffer: Uint8Array): number {
  let at = 0;
  while (at < 3 && ((buffer[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}
