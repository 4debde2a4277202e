import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemWords } from './system-words';

/** `f_type` of file systems in which nobody makes folders, though they do not say so before: proc, sysfs, cgroup2. */
const SYSTEMS_OWN = new Set([0x9fa0, 0x62656572, 0x63677270]);

/**
 * Why a path cannot be used as a folder; null when it is one, or can become one. Nothing is made.
 * @param path absolute
 */
export function folderProblem(path: string): string | null {
  const found = kindOf(path);
  if (found === 'folder') return accessProblem(path, constants.R_OK | constants.X_OK, 'it cannot be read');
  if (found === 'missing') return makingProblem(dirname(path));
  return found === 'file' ? 'a file is there' : `it cannot be reached: ${found.words}`;
}

/** Why a path cannot be used as a file; null when it is one, or can become one. */
export function fileProblem(path: string): string | null {
  const found = kindOf(path, (stats) => stats.isFile());
  if (found === 'file') return null;
  if (found === 'missing') return makingProblem(dirname(path));
  return found === 'folder' ? 'a folder, a pipe or a device is there' : `it cannot be reached: ${found.words}`;
}

/** Whether a folder can be made in the first ancestor that is there. */
function makingProblem(parent: string): string | null {
  const found = kindOf(parent);
  if (found === 'missing') return dirname(parent) === parent ? null : makingProblem(dirname(parent));
  if (found === 'file') return `a file is in its way: ${parent}`;
  if (found !== 'folder') return `it cannot be reached: ${found.words}`;
  if (SYSTEMS_OWN.has(statfsSync(parent).type)) return `the system does not let anything be made in ${parent}`;
  return accessProblem(parent, constants.W_OK | constants.X_OK, `nothing can be made in ${parent}`);
}

type Kind = 'folder' | 'file' | 'missing' | { readonly words: string };

function kindOf(
  path: string,
  isFile = (stats: { isDirectory(): boolean; isFile(): boolean }) => !stats.isDirectory(),
): Kind {
  try {
    const stats = statSync(path);
    return isFile(stats) ? 'file' : 'folder';
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    // A file in the way is found by whoever looks at the ancestors.
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : { words: systemWords(code) };
  }
}

function accessProblem(path: string, mode: number, words: string): string | null {
  try {
    accessSync(path, mode);
    return null;
  } catch (error) {
    return `${words}: ${systemWords((error as NodeJS.ErrnoException).code ?? String(error))}`;
  }
}
