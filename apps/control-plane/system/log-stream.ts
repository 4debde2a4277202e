import pino, { type DestinationStream } from 'pino';

type Line = Readonly<Record<string, unknown>> & {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  readonly context?: string;
};

/** The streams that have to be written out before the process ends. */
export interface LogStream extends DestinationStream {
  flush(): void;
}

/** Standard output, as lines of JSON or in words. Whoever read it and went away does not end the server. */
export function logStream(json: boolean): LogStream {
  const output = pino.destination({ dest: 1, sync: false });
  output.on('error', () => undefined);
  const flush = (): void => {
    try {
      output.flushSync();
    } catch {
      // Nobody reads it any more, or it was never opened.
    }
  };
  return { write: (line) => void output.write(json ? line : inWords(line)), flush };
}

/** What stands for itself in a line in words. */
const SHOWN = new Set(['level', 'time', 'msg', 'context', 'err', 'pid', 'hostname']);

/** A line for people: time, level, part of the program, message, and whatever else it says as `name=value`. */
export function inWords(text: string): string {
  let line: Line;
  try {
    line = JSON.parse(text) as Line;
  } catch {
    return text;
  }
  const { level, time, msg = '', context, err } = line;
  const values = Object.entries(line)
    .filter(([name]) => !SHOWN.has(name))
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const { stack } = (err ?? {}) as { readonly stack?: string };
  const trace = stack === undefined ? '' : `\n${stack}`;
  const label = (pino.levels.labels[level] ?? String(level)).toUpperCase().padEnd(5);
  const part = context === undefined ? '' : `[${context}] `;
  return `${new Date(time).toISOString()} ${label} ${part}${msg}${values.join('')}${trace}\n`;
}
