import { readdirSync, readFileSync } from 'node:fs';
import { load } from 'koffi';

/** The parts of the machine that runs need, in a simple form: `libs/host` takes their place. */
export function becomeSubreaper(): boolean {
  return load(null).func('int prctl(int, ulong, ulong, ulong, ulong)')(36, 1, 0, 0, 0) === 0;
}
export function peakRss(pid: number): number | null {
  const match = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return match ? Number(match[1]) * 1024 : null;
}
export function members(root: number, cookie: string): number[] {
  const parents = new Map<number, number>();
  const found = new Set<number>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!pid) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z') continue;
      parents.set(pid, Number(fields[1]));
      if (cookie && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`CODEFYUI_RUN_COOKIE=${cookie}`))
        found.add(pid);
    } catch {
      // gone
    }
  }
  for (const pid of parents.keys()) {
    for (let at: number | undefined = parents.get(pid); at && at > 1; at = parents.get(at))
      if (at === root) found.add(pid);
  }
  return [...found];
}
export class ProcessTree {
  constructor(
    readonly root: { readonly pid: number; readonly startTime: string },
    readonly cookie: string,
  ) {}
  terminate(): void {
    for (const pid of [-this.root.pid, ...members(this.root.pid, this.cookie)]) signal(pid, 'SIGTERM');
  }
  async kill(deadlineMs: number): Promise<readonly { readonly pid: number; readonly startTime: string }[]> {
    const end = performance.now() + deadlineMs;
    while (performance.now() < end) {
      const left = members(this.root.pid, this.cookie);
      signal(-this.root.pid, 'SIGKILL');
      for (const pid of left) signal(pid, 'SIGKILL');
      if (left.length === 0) return [];
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return members(this.root.pid, this.cookie).map((pid) => ({ pid, startTime: '' }));
  }
}
export class OomWatch {
  rose(): boolean {
    return false;
  }
}
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone
  }
}
