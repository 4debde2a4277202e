import { CsvError, parse } from 'csv-parse/sync';
import { CodedError } from '@cdui/protocol';

/** A table of texts. */
export interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Numbers of some columns, row-major, and how many cells were empty (NaN). */
export interface NumericColumns {
  readonly names: readonly string[];
  readonly data: Float32Array;
  readonly missing: number;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const INFINITE = /^[+-]?inf(inity)?$/i;
/** What a cell without a value is written as, besides nothing at all. */
const MISSING: ReadonlySet<string> = new Set(['', 'NA', 'N/A', 'n/a', '#N/A', 'NaN', 'nan', 'null', 'NULL', 'None']);

/**
 * Reads comma-separated text (RFC 4180, a byte order mark and either line ending allowed). Names of columns that repeat get `.1`, `.2`;
 * without a header columns are called by their number.
 *
 * @throws CodedError `invalid_data_file` naming the line
 */
export function parseCsv(bytes: Uint8Array, header: boolean, source: string): CsvTable {
  let records: string[][];
  try {
    const input = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    records = parse(input, { bom: true, skip_empty_lines: true, record_delimiter: ['\r\n', '\n', '\r'] });
  } catch (error) {
    throw new CodedError('invalid_data_file', `${source} is not a readable table: ${wording(error)}`, { file: source });
  }
  const [first] = records;
  if (!first) {
    throw new CodedError('invalid_data_file', `${source} is empty: a table needs at least one row`, { file: source });
  }
  const rows = header ? records.slice(1) : records;
  if (rows.length === 0) {
    throw new CodedError(
      'invalid_data_file',
      `${source} has a header but no rows (set skip_header to false if the first line is data)`,
      {
        file: source,
      },
    );
  }
  return { columns: header ? distinct(first) : first.map((_, i) => String(i)), rows };
}

/** The place of a column. @throws CodedError `unknown_column` naming those that there are */
export function columnIndex(table: CsvTable, name: string, param: string): number {
  // Params are trimmed, names in a file need not be.
  const exact = table.columns.indexOf(name);
  const index = exact >= 0 ? exact : table.columns.findIndex((column) => column.trim() === name);
  if (index < 0) {
    throw new CodedError(
      'unknown_column',
      `${param} names the column "${name}", the table has ${table.columns.slice(0, 50).join(', ')}`,
      { param, column: name, columns: table.columns.slice(0, 50) },
    );
  }
  return index;
}

/** Columns in which every cell is a number or empty, and at least one is a number. */
export function numericColumns(table: CsvTable): readonly string[] {
  return table.columns.filter((_, column) => {
    let numbers = 0;
    for (const row of table.rows) {
      const value = toNumber(row[column]!);
      if (value === null) return false;
      if (!Number.isNaN(value)) numbers++;
    }
    return numbers > 0;
  });
}

/** A column that texts keep from being one of numbers, and the first of them. */
export interface SpoiltColumn {
  readonly column: string;
  /** Counted from 1, without the header. */
  readonly row: number;
  readonly text: string;
}

/** Columns that are not numeric although most of their cells hold numbers: likely a slip in the file. */
export function spoiltColumns(table: CsvTable): readonly SpoiltColumn[] {
  return table.columns.flatMap((column, place) => {
    let numbers = 0;
    let first: SpoiltColumn | null = null;
    table.rows.forEach((cells, index) => {
      const text = cells[place]!;
      const value = toNumber(text);
      if (value === null) first ??= { column, row: index + 1, text };
      else if (!Number.isNaN(value)) numbers++;
    });
    return first && numbers > table.rows.length / 2 ? [first] : [];
  });
}

/** The named columns as float32 `[rows, columns]`. @throws CodedError `not_a_number` naming row and column */
export function readNumbers(table: CsvTable, names: readonly string[], source: string): NumericColumns {
  const places = names.map((name) => columnIndex(table, name, 'include_columns'));
  const data = new Float32Array(table.rows.length * names.length);
  let missing = 0;
  let at = 0;
  table.rows.forEach((row, index) => {
    for (const place of places) {
      const value = toNumber(row[place]!);
      if (value === null) {
        const column = table.columns[place]!;
        throw new CodedError(
          'not_a_number',
          `${source}: row ${index + 1}, column "${column}" is ${JSON.stringify(row[place]!.slice(0, 40))}, not a number: correct it or leave the column out of include_columns`,
          { file: source, row: index + 1, column },
        );
      }
      if (Number.isNaN(value)) missing++;
      data[at++] = value;
    }
  });
  return { names, data, missing };
}

/** NaN for a cell without a value, null for a text. */
function toNumber(cell: string): number | null {
  const text = cell.trim();
  if (NUMBER.test(text)) return Number(text);
  if (MISSING.has(text)) return NaN;
  return INFINITE.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : null;
}

function distinct(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let n = 1; seen.has(unique); n++) unique = `${name}.${n}`;
    seen.add(unique);
    return unique;
  });
}

function wording(error: unknown): string {
  if (error instanceof CsvError) {
    const { lines, records } = error as unknown as { lines?: number; records?: number };
    switch (error.code) {
      case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH':
        return `line ${lines} has another number of cells than the lines before it`;
      case 'CSV_QUOTE_NOT_CLOSED':
        return `a quote is not closed by the end of the file (line ${lines})`;
      default:
        return `line ${lines ?? (records ?? 0) + 1}: ${error.message}`;
    }
  }
  return error instanceof Error ? error.message : String(error);
}
