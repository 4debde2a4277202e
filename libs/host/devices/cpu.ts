import { readFile } from 'node:fs/promises';
import { arch, cpus, freemem, totalmem } from 'node:os';
import type { DeviceFacts } from '@cdui/protocol';

/** Time of all cores together since boot, in a unit that only serves for ratios. */
export interface CpuTimes {
  readonly busy: number;
  readonly total: number;
}

/** The CPU. `utilization` is that of the time since the read before, so null at the first. */
export class Cpu {
  readonly #times: () => Promise<CpuTimes | null>;
  readonly #name = cpus()[0]?.model.trim() || arch();
  #last: CpuTimes | null = null;
  #utilization: number | null = null;

  constructor(times: () => Promise<CpuTimes | null> = cpuTimes) {
    this.#times = times;
  }

  async read(): Promise<DeviceFacts> {
    const now = await this.#times();
    if (now !== null) {
      const total = now.total - (this.#last?.total ?? now.total);
      // Two reads within one tick of the clock: what was said before still holds.
      if (total > 0) this.#utilization = percent((now.busy - this.#last!.busy) / total);
      this.#last = now;
    }
    const [total_bytes, free_bytes] = memory();
    return { device: 'cpu', name: this.#name, uuid: null, total_bytes, free_bytes, utilization: this.#utilization };
  }
}

/** Total and available bytes; in a container with a limit, those of the container. */
export function memory(): [number, number] {
  // It is 0, or more than there is, where nothing is limited.
  const limit = process.constrainedMemory();
  const total = totalmem();
  return limit > 0 && limit < total ? [limit, Math.min(limit, process.availableMemory())] : [total, freemem()];
}

async function cpuTimes(): Promise<CpuTimes | null> {
  // Not `os.cpus()` on Linux: it reads a file for each core, hundreds on a large machine.
  if (process.platform === 'linux') return parseProcStat(await readFile('/proc/stat', 'utf8').catch(() => ''));
  const times = cpus().map((core) => core.times);
  const busy = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, 0);
  return { busy, total: times.reduce((sum, { idle }) => sum + idle, busy) };
}

/** Of `/proc/stat`; null when it does not begin as it should. Waiting for a disk is not computing. */
export function parseProcStat(stat: string): CpuTimes | null {
  const fields = /^cpu +([\d ]+)$/m.exec(stat)?.[1]?.split(' ').map(Number);
  if (fields === undefined || fields.length < 5) return null;
  // user nice system idle iowait irq softirq steal; guest time, behind them, is in user already.
  const total = fields.slice(0, 8).reduce((sum, time) => sum + time, 0);
  return { busy: total - fields[3]! - fields[4]!, total };
}

/** A counter can step back (iowait does): that is no negative share. */
function percent(share: number): number {
  return Math.round(Math.min(1, Math.max(0, share)) * 100);
}
