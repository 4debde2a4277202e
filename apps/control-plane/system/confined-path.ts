import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';

/**
 * The file behind a path once all links are followed, when it is a regular file that lies in one of the folders; null for everything else, so that
 * an answer does not tell what lies elsewhere.
 */
export async function confinedFile(path: string, folders: readonly string[]): Promise<string | null> {
  if (path.includes('\0')) return null;
  const file = await realpath(path).catch(() => null);
  if (file === null) return null;
  const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(() => null)));
  if (!roots.some((root) => root !== null && isInside(root, file))) return null;
  const found = await stat(file).catch(() => null);
  return found?.isFile() === true ? file : null;
}

/** Whether `file` lies below `folder`; both absolute, links followed. */
export function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
