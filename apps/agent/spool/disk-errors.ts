import { CodedError } from '@cdui/protocol';
import { systemWords } from '@cdui/host/system-words';

/** What the system says when there is no room, or nothing may be written at all; the last one when a file may not become larger. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EFBIG']);

/** The error as the protocol knows it: `disk_full` with `params.path` when there is no room, else `spool_failed`. */
export function diskError(error: unknown, path: string): CodedError {
  if (error instanceof CodedError) return error;
  const { code = String(error) } = error as NodeJS.ErrnoException;
  return new CodedError(
    FULL.has(code) ? 'disk_full' : 'spool_failed',
    `${path} cannot be written: ${systemWords(code)}`,
    { path, error: code },
    { cause: error },
  );
}
