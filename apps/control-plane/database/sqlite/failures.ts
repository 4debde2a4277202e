import { CodedError } from '@cdui/protocol';

/** SQLite's name of what went wrong, such as `SQLITE_FULL`; null for an error that is not SQLite's. */
export function sqliteCode(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : null;
}

/** Whether another process holds the database. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}

/** After these SQLite may have rolled back the whole transaction by itself (sqlite.org/lang_transaction.html, section 2.4). */
const FATAL = new Set([
  'SQLITE_BUSY',
  'SQLITE_CANTOPEN',
  'SQLITE_CORRUPT',
  'SQLITE_FULL',
  'SQLITE_INTERRUPT',
  'SQLITE_IOERR',
  'SQLITE_LOCKED',
  'SQLITE_NOMEM',
  'SQLITE_NOTADB',
  'SQLITE_READONLY',
]);

export function endsTransaction(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && FATAL.has(code);
}

/** In words what to do about it, by SQLite's code. */
const ADVICE: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'the disk is full: free some space, and it goes on',
  SQLITE_IOERR: 'the disk reported an error: check its space, its health and its quota',
  SQLITE_BUSY: 'another process holds the database: end it, and it goes on',
  SQLITE_READONLY: 'the file is read-only: make it and its folder writable',
  SQLITE_CORRUPT: 'the file is damaged: restore a backup',
};

/**
 * What callers get instead of SQLite's own error: `storage_failed` with the system's reason. An error that is not SQLite's is returned as it is.
 */
export function storageFailure(error: unknown, file: string): unknown {
  const code = sqliteCode(error);
  if (code === null) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const advice = ADVICE[code] ?? 'see the reason';
  return new CodedError(
    'storage_failed',
    `The database ${file} could not be used (${reason}): ${advice}`,
    { reason, code, file },
    { cause: error },
  );
}
