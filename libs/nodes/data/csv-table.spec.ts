import * as fc from 'fast-check';
import { CodedError } from '@cdui/protocol';
import { columnIndex, numericColumns, parseCsv, readNumbers } from './csv-table';

const read = (text: string, header = true) => parseCsv(new TextEncoder().encode(text), header, 'table.csv');

describe('columnIndex', () => {
  it('finds a name that has spaces around it in the file, but an exact one first', () => {
    const table = read('a, b ,c, c\n1,2,3,4');
    expect(['a', 'b', 'c'].map((name) => columnIndex(table, name, 'target_column'))).toEqual([0, 1, 2]);
    expect(() => columnIndex(table, 'd', 'target_column')).toThrow(/names the column "d"/);
  });
});

describe('parseCsv', () => {
  it('reads a header, quotes, both line endings and a byte order mark', () => {
    const table = read('\uFEFFa,"b,c"\r\n1,"x ""y"""\n2,z\n\n');
    expect(table.columns).toEqual(['a', 'b,c']);
    expect(table.rows).toEqual([
      ['1', 'x "y"'],
      ['2', 'z'],
    ]);
  });

  it('numbers the columns without a header, and keeps repeated names apart', () => {
    expect(read('1,2\n3,4', false).columns).toEqual(['0', '1']);
    expect(read('1,2\n3,4', false).rows).toHaveLength(2);
    expect(read('a,a,a.1,a\n1,2,3,4').columns).toEqual(['a', 'a.1', 'a.1.1', 'a.2']);
  });

  it.each([
    ['', /is empty/],
    ['a,b\n', /header but no rows/],
    ['a,b\n1,2\n3\n', /line 3 has another number of cells/],
    ['a,b\n1,"2\n', /quote is not closed/],
    ['a,b\n1,2"x\n', /line 2/],
  ])('refuses %j', (text, message) => {
    expect(() => read(text)).toThrow(message);
    expect(() => read(text)).toThrow(/^table.csv/);
  });

  it('reads back whatever cells were written, quoted', () => {
    const cells = fc.array(fc.array(fc.string({ minLength: 1 }), { minLength: 2, maxLength: 2 }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(cells, (rows) => {
        const text = rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n');
        expect(read(text, false).rows).toEqual(rows);
      }),
    );
  });

  it('answers any bytes with a rectangular table or a coded error', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc
        .array(fc.constantFrom('"', ',', '\n', '\r', 'a', '1', '\uFEFF'), { maxLength: 40 })
        .map((parts) => new TextEncoder().encode(parts.join(''))),
    );
    fc.assert(
      fc.property(bytes, fc.boolean(), (input, header) => {
        try {
          const table = parseCsv(input, header, 'noise');
          for (const row of table.rows) expect(row).toHaveLength(table.columns.length);
          expect(new Set(table.columns).size).toBe(table.columns.length);
        } catch (error) {
          expect(error).toBeInstanceOf(CodedError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('numbers of a table', () => {
  const table = read('size,name,share,empty\n1,a,.5,\n-2e3, b ,NA,\n 3 ,c,inf,\n');

  it('finds the columns of numbers', () => {
    expect(numericColumns(table)).toEqual(['size', 'share']);
  });

  it('reads them row by row and counts the empty cells', () => {
    const { data, missing } = readNumbers(table, ['share', 'size'], 'table.csv');
    expect(Array.from(data)).toEqual([0.5, 1, NaN, -2000, Infinity, 3]);
    expect(missing).toBe(1);
  });

  it('names row and column of a text', () => {
    expect(() => readNumbers(table, ['size', 'name'], 'table.csv')).toThrow(
      /table.csv: row 1, column "name" is "a", not a number/,
    );
  });

  it.each(['0x10', '1_000', '1,5', 'true', '--1', '1e', '.'])('takes %j for a text', (cell) => {
    expect(numericColumns(read(`a,b\n"${cell}",1`))).toEqual(['b']);
  });

  it('names the columns that there are', () => {
    expect(() => columnIndex(table, 'colour', 'target_column')).toThrow(
      /target_column names the column "colour", the table has size, name/,
    );
  });
});
