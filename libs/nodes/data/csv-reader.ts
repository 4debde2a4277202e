import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { CodedError, type RunFolders } from '@cdui/protocol';
import { defineNode, param, type NodeContext } from '@cdui/node-sdk';
import { columnIndex, numericColumns, parseCsv, readNumbers, spoiltColumns, type CsvTable } from './csv-table';

const MAX_BYTES = 512 * 1024 * 1024;

/** Reads a table: features as float32 `[N, F]`, the target column as texts. */
export const csvReaderNode = defineNode({
  name: 'CSVReader',
  category: 'Data',
  description: 'Reads a CSV table: a tensor of its numbers, labels, and the names of the columns.',
  outputs: {
    tensor: ['TENSOR', 'float32 [rows, columns]'],
    labels: ['LIST', 'Texts of target_column, one per row'],
    columns: ['LIST', 'Names of the columns of the tensor'],
  },
  params: {
    path: param.text('data/samples/iris.csv', {
      description: 'The file; a relative path lies in the folder of files or of examples',
    }),
    target_column: param.text('', { description: 'Column of the labels; it is left out of the tensor' }),
    include_columns: param.text('', {
      description: 'Columns of the tensor, separated by commas; empty takes every numeric one',
    }),
    skip_header: param.bool(true, { description: 'The first line holds the names of the columns' }),
  },
  needs: { readsFiles: ['path'] },
  files(params, folders) {
    const { path } = params;
    return typeof path === 'string' ? candidates(path, folders).slice(0, 1) : [];
  },
  async execute(context, _inputs, params) {
    const file = locate(params.text('path'), context.folders);
    const found = await stat(file);
    if (!found.isFile()) params.reject('path', `must name a file, and ${file} is a folder or a device`);
    const { size } = found;
    if (size > MAX_BYTES) {
      throw new CodedError('invalid_data_file', `${file} has ${size} bytes, a table may have ${MAX_BYTES}: split it`, {
        file,
        size,
      });
    }
    const table = parseCsv(await readFile(file), params.bool('skip_header'), file);
    const target = params.text('target_column').trim();
    const place = target === '' ? null : columnIndex(table, target, 'target_column');
    const listed = params.words('include_columns');
    const names =
      listed.length > 0 ? listed : numericColumns(table).filter((name) => table.columns.indexOf(name) !== place);
    if (names.length === 0) {
      throw new CodedError(
        'no_numeric_columns',
        `${file} has no column of numbers besides the target: list some in include_columns`,
        {
          file,
          columns: table.columns.slice(0, 50),
        },
      );
    }
    if (listed.length === 0) warnOfSpoilt(context, table, target, file);
    const numbers = readNumbers(table, names, file);
    if (numbers.missing > 0) {
      context.warn({
        kind: 'missing_values',
        code: 'missing_values',
        detail: `${file}: ${numbers.missing} cells are empty and become NaN; a network cannot train on them`,
        count: numbers.missing,
        params: { file, node_id: context.nodeId },
      });
    }
    const tensor = context.scope.upload({
      shape: [table.rows.length, names.length],
      dtype: 'float32',
      data: numbers.data,
    });
    return { tensor, labels: place === null ? [] : table.rows.map((row) => row[place]!), columns: [...names] };
  },
});

/** Says which columns are left out for a slip: a network that gets fewer numbers than it expects does not tell. */
function warnOfSpoilt(context: NodeContext, table: CsvTable, target: string, file: string): void {
  for (const { column, row, text } of spoiltColumns(table)) {
    if (column.trim() === target) continue;
    context.warn({
      kind: 'column_left_out',
      code: 'column_left_out',
      detail: `${file}: column "${column}" is left out, because row ${row} holds ${JSON.stringify(text.slice(0, 40))} there: correct the cell, or name the columns in include_columns`,
      params: { node_id: context.nodeId, file, column, row },
    });
  }
}

/** The existing files a path may mean, best first. */
function candidates(path: string, folders: RunFolders): string[] {
  return places(path, folders).filter((file) => existsSync(file));
}

function places(path: string, folders: RunFolders): string[] {
  if (isAbsolute(path)) return [resolve(path)];
  return [folders.files, folders.examples]
    .filter((folder): folder is string => typeof folder === 'string')
    .map((folder) => [folder, join(folder, path)] as const)
    .filter(([folder, file]) => !relative(folder, file).startsWith('..'))
    .map(([, file]) => file);
}

function locate(path: string, folders: RunFolders): string {
  if (path.trim() === '') {
    throw new CodedError('invalid_param', 'path is empty, it must name a file', {
      param: 'path',
      value: path,
    });
  }
  const allowed = places(path, folders);
  if (allowed.length === 0) {
    throw new CodedError(
      'path_outside_folder',
      `path "${path}" leads out of the folder of files: give an absolute path instead`,
      {
        param: 'path',
        value: path,
      },
    );
  }
  const found = allowed.find((file) => existsSync(file));
  if (!found) {
    throw new CodedError('file_not_found', `path "${path}" names no file; looked for ${allowed.join(' and ')}`, {
      param: 'path',
      value: path,
      looked_for: allowed,
    });
  }
  return found;
}
