import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CodedError } from '@cdui/protocol';

const PACKAGE_NAME = 'cdui';

/**
 * The folder that holds this program's `package.json`, found by walking up from `from`. It is the same whether the caller runs
 * from source (under jest), from `dist/`, or inside a bundle somewhere below the root.
 */
export function programRoot(from: string = __dirname): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (isProgramRoot(folder)) {
      return folder;
    }
    if (folder === dirname(folder)) {
      throw new CodedError(
        'program_root_not_found',
        `No package.json of "${PACKAGE_NAME}" in ${from} or any folder above it: run the program from inside its own folder`,
        { from },
      );
    }
  }
}

/**
 * The compiled file of a thread's or child process's entry. Threads and children always run compiled code, so that they start fast and
 * behave alike under jest and in production.
 *
 * @param relative path of the source below the root without extension, such as `libs/tensor/onnx/worker`
 * @throws CodedError `not_built` when the compiled file is missing
 */
export function entryPath(relative: string, root: string = programRoot()): string {
  const file = join(root, 'dist', `${relative}.js`);
  if (!existsSync(file)) {
    throw new CodedError('not_built', `${file} does not exist: compile the program first with \`npm run build\``, {
      entry: relative,
      file,
    });
  }
  return file;
}

function isProgramRoot(folder: string): boolean {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name === PACKAGE_NAME;
  } catch {
    return false;
  }
}
