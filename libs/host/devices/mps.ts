import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { DeviceFacts } from '@cdui/protocol';
import { memory } from './cpu';

const run = promisify(execFile);
const DEADLINE_MS = 2_000;

/** The GPU of an Apple chip, which shares the machine's memory. */
export class Mps {
  #facts: DeviceFacts | null = null;

  /** Empty on any other machine. */
  async read(): Promise<readonly DeviceFacts[]> {
    if (process.platform !== 'darwin' || process.arch !== 'arm64') return [];
    try {
      this.#facts ??= parseSysctl(
        (await run('/usr/sbin/sysctl', ['machdep.cpu.brand_string', 'hw.memsize'], { timeout: DEADLINE_MS })).stdout,
      );
    } catch {
      // Asked again at the next read.
    }
    return this.#facts === null ? [] : [{ ...this.#facts, free_bytes: memory()[1] }];
  }
}

/** Of `sysctl machdep.cpu.brand_string hw.memsize`; null when it names no Apple chip. */
export function parseSysctl(output: string): DeviceFacts | null {
  const name = /^machdep\.cpu\.brand_string: (Apple .+)$/m.exec(output)?.[1]?.trim();
  const bytes = /^hw\.memsize: (\d+)$/m.exec(output)?.[1];
  if (name === undefined) return null;
  const total_bytes = bytes === undefined ? null : Number(bytes);
  return { device: 'mps:0', name, uuid: null, total_bytes, free_bytes: null, utilization: null };
}
