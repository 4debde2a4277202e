import * as sqlite3 from 'sqlite3';
import { DataSource, type Logger } from 'typeorm';
import { ENTITIES } from './entities';
import { Runs1764500000001 } from './migrations/1-runs';

/** Every migration, the oldest first. The number of the schema is how many there are: add only at the end. */
export const MIGRATIONS = [Runs1764500000001] as const;

/**
 * TypeORM's view of the database, on a connection of its own: for migrations and tests. While the server runs, everything goes through `Writer` and
 * `Readers` instead, because TypeORM runs all its transactions on one shared connection, where those of different callers get into each other.
 * The caller closes it.
 */
export function dataSource(file: string): DataSource {
  return new DataSource({
    type: 'sqlite',
    database: file,
    entities: [...ENTITIES],
    migrations: [...MIGRATIONS],
    migrationsTransactionMode: 'none',
    busyTimeout: 5000,
    logger: SILENT,
    driver: QUIET_SQLITE3,
  });
}

/**
 * TypeORM asks sqlite3 to be verbose, which from then on has every statement of this process, the writer's as well, written out with all its values
 * in case it fails: that took a third of the time of an insert.
 */
const QUIET_SQLITE3 = { ...sqlite3, verbose: () => sqlite3 };

/** What goes wrong is thrown, and said once by whoever opens the database. */
const SILENT: Logger = {
  logQuery: () => undefined,
  logQueryError: () => undefined,
  logQuerySlow: () => undefined,
  logSchemaBuild: () => undefined,
  logMigration: () => undefined,
  log: () => undefined,
};
