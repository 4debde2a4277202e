import { join } from 'node:path';
import { temporaryFolders } from '../testing/temporary';
import { dataSource } from './data-source';
import { prepareDatabase } from './prepare';

const newFolder = temporaryFolders();

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly pk: number;
}

it('entities name the columns that the migrations make, with type, key and nullability', async () => {
  const file = join(newFolder(), 'entities.db');
  await prepareDatabase(file, '3.1.0');
  const source = await dataSource(file).initialize();
  try {
    const tables = await source.query<{ name: string }[]>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('migrations', 'database_info', 'sqlite_sequence')`,
    );
    expect(source.entityMetadatas.map(({ tableName }) => tableName).sort()).toEqual(
      tables.map(({ name }) => name).sort(),
    );
    for (const { tableName, columns } of source.entityMetadatas) {
      const made = await source.query<Column[]>(
        `SELECT name, type, "notnull", pk FROM pragma_table_info('${tableName}')`,
      );
      const named = columns.map(({ databaseName, type, isNullable, isPrimary }) => ({
        name: databaseName,
        type: (type as string).toUpperCase(),
        notnull: Number(!isNullable),
        pk: isPrimary,
      }));
      const expected = made.map(({ pk, ...column }) => ({ ...column, type: column.type.toUpperCase(), pk: pk > 0 }));
      expect(named).toEqual(expected);
    }
  } finally {
    await source.destroy();
  }
});
