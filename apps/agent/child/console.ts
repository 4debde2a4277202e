import { fstatSync, openSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';

const STDOUT_FD = 1;
const STDERR_FD = 2;

/** Appends to the run's log. @returns the system's code when not all of it could be written; null when it was */
export function print(text: string): string | null {
  let bytes: Uint8Array = Buffer.from(text);
  try {
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(STDOUT_FD, bytes));
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** Node code may close the standard streams; then the next file that is opened takes their place, and Node aborts at the end where none did. */
export function keepStandardStreams(): void {
  for (let fd = 0; fd <= STDERR_FD; fd++) {
    try {
      fstatSync(fd);
    } catch {
      // The system gives the lowest number that is free.
      openSync(devNull, 'r+');
    }
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
