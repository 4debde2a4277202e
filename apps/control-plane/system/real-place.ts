import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** As many links as Linux follows in one path. */
const MAX_LINKS = 40;

/**
 * Where a path leads once all links are followed, also when nothing is there yet: what is missing counts from the folder that is there. Two spellings of one
 * place give the same answer.
 * @param path absolute
 */
export function realPlace(path: string, links = MAX_LINKS): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path || links === 0 || (error as NodeJS.ErrnoException).code !== 'ENOENT') return path;
    // A link to what is not there yet is followed all the same: whoever opens it makes what it leads to.
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
      return realPlace(resolve(realPlace(parent, links - 1), readlinkSync(path)), links - 1);
    }
    return join(realPlace(parent, links), basename(path));
  }
}
