import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import {
  type ProcessEntry,
  type ProcessSystem,
  RUN_COOKIE_VARIABLE,
  processTreeCounters,
  sendSignal,
} from './process-system';

const DEADLINE_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const PS_COLUMNS = 'pid=,ppid=,pgid=,stat=,lstart=';

/** macOS, by `ps`. Best effort: start times to the second, and no orphans come to us. */
export const darwin: ProcessSystem = {
  self: process.pid,
  scan: () => parsePs(ps('-A', '-o', PS_COLUMNS)),
  entry: (pid) => parsePs(ps('-p', String(pid), '-o', PS_COLUMNS)).get(pid) ?? null,
  cookie: (pid) => parsePsEnvironment(ps('-E', '-ww', '-p', String(pid), '-o', 'command=')),
  signal: sendSignal,
  // Orphans are adopted by the system's first process.
  children: () => [],
  reap: () => false,
};

let lastOfWindows: ReadonlyMap<number, ProcessEntry> = new Map();

/** Windows, by PowerShell. Best effort: parents only; no groups, no environments, and every signal ends a process at once. */
export const windows: ProcessSystem = {
  self: process.pid,
  scan: () => (lastOfWindows = parseWin32Processes(powershell(WIN32_PROCESSES))),
  // A look at one costs as much as a look at all.
  entry: (pid) => (lastOfWindows.size === 0 ? windows.scan() : lastOfWindows).get(pid) ?? null,
  cookie: () => null,
  signal: sendSignal,
  // Orphans are adopted by the system's first process.
  children: () => [],
  reap: () => false,
};

const WIN32_PROCESSES =
  'Get-CimInstance Win32_Process | ForEach-Object { "$($_.ProcessId),$($_.ParentProcessId),$($_.CreationDate.Ticks)" }';

/** Of `ps -o pid=,ppid=,pgid=,stat=,lstart=` in the C locale. */
export function parsePs(output: string): ReadonlyMap<number, ProcessEntry> {
  const table = new Map<number, ProcessEntry>();
  for (const line of output.split('\n')) {
    const [, pid, parent, group, state, start] = /^ *(\d+) +(\d+) +(\d+) +(\S+) +(.+?) *$/.exec(line) ?? [];
    if (pid === undefined) continue;
    const startTime = String(Date.parse(start!));
    const entry = { pid: Number(pid), parent: Number(parent), group: Number(group), startTime };
    table.set(entry.pid, { ...entry, ended: state!.startsWith('Z') });
  }
  return table;
}

/** The cookie in what `ps -E` shows of a process: its command and its variables, between spaces. */
export function parsePsEnvironment(output: string): string | null {
  return new RegExp(` ${RUN_COOKIE_VARIABLE}=(\\S+)`).exec(output)?.[1] ?? null;
}

/** Of lines of number, parent's number and start. A parent's number may have been given out again: it is older than its child, or it is another. */
export function parseWin32Processes(output: string): ReadonlyMap<number, ProcessEntry> {
  const table = new Map<number, ProcessEntry>();
  for (const line of output.split(/\r?\n/)) {
    const [, pid, parent, startTime] = /^(\d+),(\d+),(\d+)$/.exec(line) ?? [];
    if (pid === undefined) continue;
    table.set(Number(pid), { pid: Number(pid), parent: Number(parent), group: 0, startTime: startTime!, ended: false });
  }
  for (const [pid, entry] of table) {
    const parent = table.get(entry.parent);
    if (parent !== undefined && BigInt(parent.startTime) > BigInt(entry.startTime))
      table.set(pid, { ...entry, parent: 0 });
  }
  return table;
}

function ps(...parameters: readonly string[]): string {
  processTreeCounters.scans++;
  return output('/bin/ps', parameters);
}

function powershell(command: string): string {
  processTreeCounters.scans++;
  const folder = join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'WindowsPowerShell', 'v1.0');
  return output(join(folder, 'powershell.exe'), ['-NoProfile', '-NonInteractive', '-Command', command]);
}

function output(program: string, parameters: readonly string[]): string {
  try {
    return execFileSync(program, parameters, {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      maxBuffer: MAX_OUTPUT_BYTES,
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: DEADLINE_MS,
      windowsHide: true,
    });
  } catch {
    return '';
  }
}
