import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

// A named pipe would be waited for until somebody writes into it. Windows has neither pipes in folders nor the flag.
const { O_RDONLY, O_NONBLOCK = 0 } = constants as Partial<typeof constants> & typeof constants;

/** The text of a file that lies in a folder of the user's. @throws Error when it is no file that has an end, or cannot be read */
export function readText(path: string): string {
  const file = openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new Error('it is no file but a folder, a pipe or a device');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
