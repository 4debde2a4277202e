import { randomBytes } from 'node:crypto';
import { mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep, isAbsolute } from 'node:path';
import { CodedError, type RunFolders } from '@cdui/protocol';

export const SAFETENSORS = '.safetensors';
/** Suffixes of model files of other formats; a forced suffix takes their place. */
const OTHER_SUFFIXES = ['.pt', '.pth', '.ckpt', '.bin'];

/** The path with the suffix `.safetensors`, in place of another model format's. */
export function withSafetensorsSuffix(path: string): string {
  if (path.endsWith(SAFETENSORS)) return path;
  const other = OTHER_SUFFIXES.find((suffix) => path.toLowerCase().endsWith(suffix));
  return `${other ? path.slice(0, -other.length) : path}${SAFETENSORS}`;
}

/**
 * Where a model file lies: a relative path is below the folder of models, and whatever the path, the file must lie in the data folder
 * once links are followed.
 *
 * @param param the param that holds the path, for messages
 * @throws CodedError `invalid_param`, `path_outside_data`
 */
export async function resolveModelPath(path: string, folders: RunFolders, param = 'path'): Promise<string> {
  if (path.trim() === '' || path.includes('\0')) {
    throw new CodedError('invalid_param', `${param} is ${JSON.stringify(path)}, it must name a file`, {
      param,
      value: path,
    });
  }
  const wanted = resolve(folders.models, path);
  const real = await followLinks(wanted);
  const roots = await Promise.all([folders.data, folders.models].map(followLinks));
  if (!roots.some((root) => isInside(root, real))) {
    throw new CodedError(
      'path_outside_data',
      `${param} "${path}" leads to ${real}, outside the data folder ${roots[0]}: choose a path below it`,
      { param, value: path, data: roots[0] },
    );
  }
  return real;
}

/** Whether `file` lies below `folder`; both absolute, links followed. */
function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The path with every link followed, as far as it exists. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = dirname(path);
    if ((code !== 'ENOENT' && code !== 'ENOTDIR') || parent === path) throw error;
    return join(await followLinks(parent), basename(path));
  }
}

/**
 * Lets `write` fill a temporary file beside `path`, makes it durable and renames it into place, so that the file is either the old one or
 * the new one, whole. The folder is made if it is missing.
 */
export async function writeAtomically<T>(path: string, write: (temporary: string) => Promise<T>): Promise<T> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const result = await write(temporary);
    await flush(temporary);
    await rename(temporary, path);
    await flush(folder);
    return result;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function flush(path: string): Promise<void> {
  let file;
  try {
    file = await open(path, 'r');
  } catch (error) {
    // A folder cannot be opened on Windows; its entries are durable without it.
    if (process.platform === 'win32') return;
    throw error;
  }
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A node or run id as a part of a file name. */
export function fileNamePart(id: string): string {
  return id.replace(/[^A-Za-z0-9._-]/g, '_');
}

/**
 * Refuses what is not an existing safetensors file, in words.
 *
 * @throws CodedError `file_not_found`, `option_not_available`
 */
export async function requireSafetensors(path: string): Promise<void> {
  if (!path.endsWith(SAFETENSORS)) {
    throw new CodedError(
      'option_not_available',
      `${path} cannot be read: only ${SAFETENSORS} files can. Save the weights in that format (in PyTorch: safetensors.torch.save_file)`,
      { path, formats: [SAFETENSORS] },
    );
  }
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) {
    throw new CodedError(
      'file_not_found',
      `There is no file ${path}: save a model there first, or choose another path`,
      { path },
    );
  }
}
