import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const KIB = 1024;
const PROC = '/proc';
/** Where the second version of cgroups may be mounted: alone, or beside the first. */
const CGROUP_MOUNTS = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'];

/**
 * Whether the kernel killed something for want of memory: the machine's own count, and that of the cgroup that this process is in with what it
 * starts. They count every process, so a rise makes a guess likely and proves nothing. Where neither can be read, nothing ever rises.
 */
export class OomWatch {
  readonly #proc: string;
  readonly #mounts: readonly string[];
  #last: readonly (number | null)[];

  constructor(proc = PROC, cgroupMounts: readonly string[] = CGROUP_MOUNTS) {
    this.#proc = proc;
    this.#mounts = cgroupMounts;
    this.#last = this.#counts();
  }

  /** Since the last time that this was asked, or since the watch was made. */
  rose(): boolean {
    const before = this.#last;
    this.#last = this.#counts();
    return this.#last.some((count, index) => count !== null && count > (before[index] ?? count));
  }

  #counts(): readonly (number | null)[] {
    const group = /^0::(\/.*)$/m.exec(text(join(this.#proc, 'self/cgroup')))?.[1] ?? null;
    const files = group === null ? [] : this.#mounts.map((mount) => join(mount, group, 'memory.events'));
    return [join(this.#proc, 'vmstat'), ...files].map((file) => oomKills(text(file)));
  }
}

/** The count in `/proc/vmstat` or in a cgroup's `memory.events`; null where there is none. */
export function oomKills(text: string): number | null {
  const count = /^oom_kill (\d+)$/m.exec(text)?.[1];
  return count === undefined ? null : Number(count);
}

/**
 * The most memory that a process has held at once so far, in bytes: of that process alone, not of those below it. Null where the system does
 * not tell (all but Linux) and for one that has ended, even when its parent has not noticed yet.
 */
export function peakRss(pid: number, proc: string = PROC): number | null {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(text(join(proc, String(pid), 'status')))?.[1];
  return kib === undefined ? null : Number(kib) * KIB;
}

function text(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
