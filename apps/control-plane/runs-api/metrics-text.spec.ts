import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { cell, CSV_HEADER, csvLine, jsonPoint } from './metrics-text';

const ts = Date.UTC(2026, 0, 2, 3, 4, 5);
const point = { node_id: 'train', name: 'loss', step: 3, value: -0.25, ts };

it('writes a point as the columns say, negative numbers as they are', () => {
  expect(csvLine('r1', point)).toBe('r1,train,loss,3,-0.25,2026-01-02T03:04:05.000Z\r\n');
  expect(jsonPoint(point)).toBe(
    '{"node_id":"train","name":"loss","step":3,"value":-0.25,"ts":"2026-01-02T03:04:05.000Z"}',
  );
});

it('leaves the value of a point empty that has none', () => {
  for (const value of [null, NaN, Infinity]) expect(csvLine('r1', { ...point, value })).toContain(',3,,');
});

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '  =1', '＝1', '\n=1'])(
  'takes %j out of reach of a spreadsheet',
  (text) => {
    const [[first]] = parse(cell(text)) as [[string]];
    expect(first).toBe(`'${text}`);
  },
);

it('gives every text back through a CSV reader, but for the mark before a formula', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (node_id, name) => {
      const text = `${CSV_HEADER}\r\n${csvLine('r1', { ...point, node_id, name })}`;
      const [row] = parse(text, { columns: true, record_delimiter: '\r\n' }) as [Record<string, string>];
      expect(row['node_id']!.replace(/^'/, '')).toBe(node_id.replace(/^'/, ''));
      expect(row['name']!.replace(/^'/, '')).toBe(name.replace(/^'/, ''));
      expect(row['name']).not.toMatch(/^\s*[=+\-@＝＋－＠]/);
    }),
  );
});
