import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os';

/** What a process used when it was looked at. */
export interface ProcessSample {
  readonly atMs: number;
  /** Processor time since its start, in seconds. */
  readonly cpuSeconds: number;
  readonly rssBytes: number;
  readonly threads: number;
}

/** Ticks of `/proc/<pid>/stat`: Linux gives them in this unit on every platform that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Null where the system does not tell (only Linux has `/proc`), or when the process is gone. */
export function sampleProcess(pid: number): ProcessSample | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const rss = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return {
      atMs: performance.now(),
      cpuSeconds: (fields[11]! + fields[12]!) / TICKS_PER_SECOND,
      rssBytes: Number(rss?.[1] ?? 0) * 1024,
      threads: fields[17]!,
    };
  } catch {
    return null;
  }
}

/** Share of one processor between two looks: 200 means two of them. */
export function cpuPercent(before: ProcessSample | null, after: ProcessSample | null): number | null {
  if (before === null || after === null || after.atMs <= before.atMs) return null;
  return Math.max(0, ((after.cpuSeconds - before.cpuSeconds) * 1000 * 100) / (after.atMs - before.atMs));
}

/** Seconds since a process started, by the kernel's clock; null where the system does not tell. */
export function uptimeOf(started: string | null): number | null {
  if (started === null) return null;
  try {
    const uptime = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
    return Math.max(0, uptime - Number(started) / TICKS_PER_SECOND);
  } catch {
    return null;
  }
}

export interface MachineFacts {
  readonly cpus: number;
  readonly load: number;
  readonly memory_bytes: number;
  readonly memory_free_bytes: number;
  readonly disk_bytes: number | null;
  readonly disk_free_bytes: number | null;
}

/** This machine, and the file system that holds a folder. */
export async function machineFacts(folder: string): Promise<MachineFacts> {
  const disk = await statfs(folder).catch(() => null);
  return {
    cpus: availableParallelism(),
    load: loadavg()[0] ?? 0,
    memory_bytes: totalmem(),
    memory_free_bytes: availableMemory() ?? freemem(),
    disk_bytes: disk && disk.blocks * disk.bsize,
    disk_free_bytes: disk && disk.bavail * disk.bsize,
  };
}

/** What programs could still get: Linux uses free memory for files and gives it back. */
function availableMemory(): number | null {
  try {
    const line = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'));
    return line === null ? null : Number(line[1]) * 1024;
  } catch {
    return null;
  }
}
