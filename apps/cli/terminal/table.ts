/** Columns of text under their headings, two spaces apart; the last column is not padded. Escape sequences (colours) take no room. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => width(row[column] ?? ''))));
  return all.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell + ' '.repeat(widths[column]! - width(cell))))
      .join('  ')
      .trimEnd(),
  );
}

const ESCAPE = String.fromCharCode(27);
const SEQUENCE = new RegExp(`${ESCAPE}\\[[0-9;]*[A-Za-z]`, 'g');

/** How many characters of a terminal a text takes. */
export function width(text: string): number {
  return [...text.replace(SEQUENCE, '')].length;
}

export function cut(text: string, most: number): string {
  const line = printable(text);
  const letters = [...line];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : line;
}

/** One line that cannot move the cursor or change colours: names come from files and other people. What is no text is shown as JSON. */
export function printable(value: unknown): string {
  return textOf(value)
    .replace(/\p{C}+/gu, ' ')
    .trim();
}

/** The same, line by line: such as the end of what a program printed. */
export function printableLines(value: unknown): readonly string[] {
  return textOf(value)
    .split(/\r?\n/)
    .map((line) =>
      line
        .replace(/\t/g, '  ')
        .replace(/\p{C}+/gu, ' ')
        .trimEnd(),
    );
}

/** A value that should be a text, as one: what other programs stored may be anything. Never throws. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
