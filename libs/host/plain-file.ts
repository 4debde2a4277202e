import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { CodedError } from '@cdui/protocol';

// Windows has neither: nothing there waits in `open`, and links are rare.
const { O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

/**
 * Opens a file of a folder that others can put things into. Only a regular file is opened: a named pipe would be waited for until somebody writes into it,
 * which takes one of the few threads that read files; a device may never end; and a link leads out of the folder.
 * @param flags such as `O_RDONLY` (the default) or `O_WRONLY | O_APPEND | O_CREAT`
 * @throws CodedError `no_plain_file`; what the system says otherwise, such as ENOENT
 */
export async function openPlain(path: string, flags: number = constants.O_RDONLY): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, flags | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    // A link; a folder that was to be written; a pipe that nobody reads, or a socket.
    throw /^(ELOOP|EMLINK|EISDIR|ENXIO)$/.test((error as NodeJS.ErrnoException).code ?? '') ? noPlainFile(path) : error;
  }
  try {
    if (!(await file.stat()).isFile()) throw noPlainFile(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The whole of such a file as text. @throws like `openPlain` */
export async function readPlain(path: string): Promise<string> {
  const file = await openPlain(path);
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

function noPlainFile(path: string): CodedError {
  return new CodedError('no_plain_file', `${path} is no plain file but a folder, a link, a pipe or a device`, { path });
}
