import type { StoredMetric } from '@cdui/execution';

export const CSV_HEADER = 'run_id,node_id,name,step,value,ts';
/** Tells spreadsheets that the file is UTF-8. */
export const BYTE_ORDER_MARK = '\ufeff';
/** What makes a spreadsheet take a cell for a formula, the wide forms of Asian keyboards included. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** One point as a line of CSV, with the line's end. */
export function csvLine(runId: string, { node_id, name, step, value, ts }: StoredMetric): string {
  const number = value === null || !Number.isFinite(value) ? '' : String(value);
  return `${[runId, cell(node_id), cell(name), step, number, new Date(ts).toISOString()].join(',')}\r\n`;
}

/** A text that no spreadsheet takes for a formula, in quotes where it needs them. */
export function cell(text: string): string {
  const plain = FORMULA.test(text.trimStart()) || FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** One point as JSON. */
export function jsonPoint({ node_id, name, step, value, ts }: StoredMetric): string {
  return JSON.stringify({ node_id, name, step, value, ts: new Date(ts).toISOString() });
}
