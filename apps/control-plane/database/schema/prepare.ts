import { existsSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CodedError } from '@cdui/protocol';
import { Connection } from '../sqlite/connection';
import { sqliteCode, storageFailure } from '../sqlite/failures';
import { SCHEMA_VERSION } from './version';

/** Marks the file as ours (`PRAGMA application_id`): "cdui" in ASCII. */
export const APPLICATION_ID = 0x63647569;

/**
 * Makes sure that the file is a database of this program with today's schema: creates or migrates it. All migrations that are missing are one
 * transaction, so that a file is never left between two schemas.
 *
 * @param program the version of this program, written beside the schema so that an older program can name it
 * @throws CodedError `database_newer` when a newer program wrote it, `database_foreign` when it is something else's; both leave it untouched.
 * `storage_failed` when it cannot be used
 */
export async function prepareDatabase(file: string, program: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    if (existsSync(file) && statSync(file).size > 0 && (await schemaOf(file, program)) === SCHEMA_VERSION) return;
    // Loading TypeORM takes longer than the whole rest of the start: only when there is something to migrate.
    const { migrate } = await import('./migrate.js');
    await migrate(file, program);
  } catch (error) {
    throw storageFailure(error, file);
  }
}

/** The number of the file's schema, looked up without writing anything. */
async function schemaOf(file: string, program: string): Promise<number> {
  const connection = await Connection.open(file, 'read', 5000);
  try {
    const [version] = await connection.all<{ user_version: number }>('PRAGMA user_version');
    const [id] = await connection.all<{ application_id: number }>('PRAGMA application_id');
    const [tables] = await connection.all<{ count: number }>('SELECT count(*) AS count FROM sqlite_schema');
    const schema = version!.user_version;
    if (id!.application_id !== APPLICATION_ID && tables!.count > 0) throw foreign(file);
    if (schema > SCHEMA_VERSION) throw await newer(connection, schema, program);
    return schema;
  } catch (error) {
    throw sqliteCode(error) === 'SQLITE_NOTADB' ? foreign(file) : error;
  } finally {
    await connection.close();
  }
}

async function newer(connection: Connection, schema: number, program: string): Promise<CodedError> {
  const [row] = await connection
    .all<{ value: string }>(`SELECT value FROM database_info WHERE key = 'program_version'`)
    .catch(() => []);
  const by = row ? `version ${row.value}` : 'a newer version';
  return new CodedError(
    'database_newer',
    `The database ${connection.file} was written by ${by} (schema ${schema}); this is version ${program}, which knows schemas up to ${SCHEMA_VERSION}. Install ${by} again, or set CODEFYUI_DB_PATH to another file. Nothing in it was changed`,
    { file: connection.file, schema, known: SCHEMA_VERSION, written_by: row?.value ?? null, program },
  );
}

function foreign(file: string): CodedError {
  return new CodedError(
    'database_foreign',
    `${file} is not a database of this program: set CODEFYUI_DB_PATH to another file. Nothing in it was changed`,
    { file },
  );
}
