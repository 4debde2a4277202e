import { readFileSync, readdirSync } from 'node:fs';
import { type KoffiFunc, load } from 'koffi';
import {
  type ProcessEntry,
  type ProcessSystem,
  RUN_COOKIE_VARIABLE,
  processTreeCounters,
  sendSignal,
} from './process-system';

/** The parent of all threads of the kernel. */
const KTHREADD = 2;
const WNOHANG = 1;
const PR_SET_CHILD_SUBREAPER = 36;

type Waitpid = KoffiFunc<(pid: number, status: null, options: number) => number>;
type Prctl = KoffiFunc<(option: number, a: number, b: number, c: number, d: number) => number>;
let waitpid: Waitpid | undefined;

export const linux: ProcessSystem = {
  self: process.pid,
  scan() {
    processTreeCounters.scans++;
    const table = new Map<number, ProcessEntry>();
    for (const name of readdirSync('/proc')) {
      if (name[0]! < '1' || name[0]! > '9') continue;
      const entry = readEntry(Number(name));
      if (entry !== null && entry.parent !== KTHREADD) table.set(entry.pid, entry);
    }
    return table;
  },
  entry: readEntry,
  children(pid) {
    try {
      // A file for each of its threads instead of one for each process of the machine.
      return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
        readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
      );
    } catch {
      // A kernel without such files, or a thread that has just ended.
      return [...linux.scan().values()].filter(({ parent }) => parent === pid).map((entry) => entry.pid);
    }
  },
  cookie(pid) {
    const environment = environmentOf(`/proc/${pid}`);
    if (environment !== '') return parseEnvironment(environment);
    // A program whose first thread has ended shows it at another.
    return parseEnvironment(environmentOf(`/proc/${pid}/task/${list(`/proc/${pid}/task`).at(-1)}`));
  },
  signal: sendSignal,
  reap(pid) {
    waitpid ??= load(null).func('int waitpid(int pid, void *status, int options)') as Waitpid;
    // For this one number, never for -1: that would take the ends of libuv's own children away from it.
    const reaped = waitpid(pid, null, WNOHANG) === pid;
    if (reaped) processTreeCounters.reaped++;
    return reaped;
  },
};

/**
 * From now on orphans below this process become its children instead of init's. It holds for this process, not for those it starts.
 * @returns false where the system has no such thing (all but Linux)
 */
export function becomeSubreaper(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const prctl = load(null).func(
      'int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)',
    ) as Prctl;
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0;
  } catch {
    return false;
  }
}

function readEntry(pid: number): ProcessEntry | null {
  try {
    // As UTF-8, whatever a name may hold: for that Node has a shorter way.
    return parseStat(pid, readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

function environmentOf(folder: string): string {
  try {
    return readFileSync(`${folder}/environ`, 'utf8');
  } catch {
    // It has ended, or is somebody else's.
    return '';
  }
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Of `/proc/PID/stat`. */
export function parseStat(pid: number, stat: string): ProcessEntry {
  // The name in parentheses may hold anything, spaces and parentheses included.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group] = fields;
  // A program whose first thread has ended shows as a zombie, and its other threads run.
  const ended = (state === 'Z' || state === 'X') && Number(fields[17]) <= 1;
  return { pid, parent: Number(parent), group: Number(group), startTime: fields[19]!, ended };
}

/** The cookie in what `/proc/PID/environ` holds: variables, each ended by a zero byte. */
export function parseEnvironment(environment: string): string | null {
  const start = `${RUN_COOKIE_VARIABLE}=`;
  const variable = environment.split('\0').find((text) => text.startsWith(start));
  return variable?.slice(start.length) || null;
}
