/** Words in colours, or as they are. */
export interface Style {
  strong(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  name(text: string): string;
}

const as = (text: string): string => text;
export const plainStyle: Style = { strong: as, dim: as, good: as, bad: as, warn: as, name: as };

const sgr = (code: number) => (text: string) => `\u001B[${code}m${text}\u001B[0m`;
export const colourStyle: Style = {
  strong: sgr(1),
  dim: sgr(2),
  good: sgr(32),
  bad: sgr(31),
  warn: sgr(33),
  name: sgr(36),
};

/** Colours are for terminals, unless `NO_COLOR` is set to anything or the terminal can show none. */
export function wantsColour(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}
