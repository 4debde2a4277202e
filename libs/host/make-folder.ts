import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CodedError } from '@cdui/protocol';
import { systemWords } from './system-words';

/**
 * Makes a folder and what is missing above it. Node's own recursive `mkdir` never ends where the system answers ENOENT below a folder
 * that is there (as `/proc` does), so the steps are taken here, from the first ancestor that exists.
 * @throws CodedError `folder_not_made` with the folder and the system's code.
 */
export async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = [];
  let path = resolve(folder);
  try {
    while (!(await isFolder(path))) {
      missing.push(path);
      path = dirname(path);
    }
    for (const step of missing.reverse()) await makeOne(step);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const message = `cannot make the folder ${resolve(folder)}: ${code === 'ENOENT' ? 'the system does not let folders be made there' : systemWords(code)}`;
    throw new CodedError('folder_not_made', message, { folder: resolve(folder), error: code }, { cause: error });
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
    throw Object.assign(new Error(`${path} is no folder`), { code: 'ENOTDIR' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(path) !== path) return false;
    throw error;
  }
}

// Somebody else may make the same folder at the same time.
async function makeOne(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !(await isFolder(path))) throw error;
  }
}
