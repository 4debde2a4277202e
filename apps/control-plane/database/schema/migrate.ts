import { APPLICATION_ID } from './prepare';
import { dataSource } from './data-source';
import { SCHEMA_VERSION } from './version';

/** Runs the missing migrations in one transaction, on a connection of its own that is closed when it resolves: the writer is not open yet. */
export async function migrate(file: string, program: string): Promise<void> {
  const source = await dataSource(file).initialize();
  try {
    const runner = source.createQueryRunner();
    // Another process that migrates the same file is waited for, and finds nothing left to do here.
    await runner.query('BEGIN EXCLUSIVE');
    try {
      await source.runMigrations({ transaction: 'none' });
      await runner.query(
        `CREATE TABLE IF NOT EXISTS database_info (key text PRIMARY KEY NOT NULL, value text NOT NULL) WITHOUT ROWID`,
      );
      await runner.query(
        `INSERT INTO database_info (key, value) VALUES ('program_version', ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
        [program],
      );
      await runner.query(`PRAGMA application_id = ${APPLICATION_ID}`);
      await runner.query(`PRAGMA user_version = ${SCHEMA_VERSION}`);
      await runner.query('COMMIT');
    } catch (error) {
      await runner.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  } finally {
    await source.destroy();
  }
}
