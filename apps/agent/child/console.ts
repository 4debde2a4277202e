import { writeSync } from 'node:fs';

const STDOUT_FD = 1;

/** Appends to the run's log. A full disk loses what is printed, and nothing else. */
export function print(text: string): void {
  let bytes: Uint8Array = Buffer.from(text);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(STDOUT_FD, bytes));
  } catch {
    // Nobody can be told.
  }
}

/** Gives what node code writes to a standard stream to whoever takes secrets out of it first. */
export function capture(stream: NodeJS.WriteStream, take: (text: string) => void): void {
  const decoder = new TextDecoder();
  const write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    take(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }));
    const done = rest.find((argument) => typeof argument === 'function');
    if (typeof done === 'function') done();
    return true;
  };
  stream.write = write;
}
