import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../exit-codes';
import { colourStyle, plainStyle, wantsColour } from '../graph-run/style';
import { serverFolders } from './data-folder';
import { findServer } from './server-files';
import { type Status, StatusReader } from './status';
import { statusLines } from './status-lines';

export interface StatusChoice {
  /** Seconds between two looks. */
  readonly every: number;
  readonly once: boolean;
  readonly json: boolean;
}

const HOME = '\u001B[H';
const CLEAR_TO_LINE_END = '\u001B[K';
const CLEAR_BELOW = '\u001B[J';
const ENTER_SCREEN = '\u001B[?1049h\u001B[?25l';
const LEAVE_SCREEN = '\u001B[?25h\u001B[?1049l';

/** Shows the server: once, or again and again on a terminal until Ctrl+C. Returns the exit code: 0 when it answers. */
export async function showStatus({ every, once: justOnce, json }: StatusChoice): Promise<number> {
  const reader = new StatusReader(await runningFolder());
  const live = process.stdout.isTTY && process.env['TERM'] !== 'dumb' && !justOnce && !json;
  const status = await reader.read();
  if (json) process.stdout.write(`${JSON.stringify(status, null, 2)}\n`);
  else if (!live || status.state === 'stopped') process.stdout.write(text(status).join('\n') + '\n');
  else await dashboard(reader, status, every);
  return status.state === 'running' ? EXIT.ok : EXIT.failed;
}

/** The folder whose server is meant: the first that has one. */
async function runningFolder(): Promise<string> {
  const folders = serverFolders(process.env);
  for (const folder of folders) if ((await findServer(folder)) !== null) return folder;
  return folders[0]!;
}

function text(status: Status): readonly string[] {
  const style = wantsColour(process.stdout.isTTY, process.env) ? colourStyle : plainStyle;
  return statusLines(status, Date.now(), style);
}

async function dashboard(reader: StatusReader, first: Status, every: number): Promise<void> {
  const ended = new AbortController();
  void once(process, 'SIGINT').then(() => ended.abort());
  process.stdout.write(ENTER_SCREEN);
  try {
    for (let status = first; !ended.signal.aborted; status = await reader.read()) {
      const rows = Math.max(1, (process.stdout.rows || 24) - 2);
      const lines = [...text(status).slice(0, rows), '', `every ${every} s, Ctrl+C ends`].slice(0, rows + 1);
      process.stdout.write(HOME + lines.map((line) => `${line}${CLEAR_TO_LINE_END}`).join('\n') + CLEAR_BELOW);
      await sleep(every * 1000, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  } finally {
    process.stdout.write(LEAVE_SCREEN);
  }
}
