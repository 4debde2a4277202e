import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessOptions, StartedProcess } from './started-process';
import { OUTPUT_LOG, recordProcess, startProcess } from './started-process';

/** A run that began goes on alone for so long before its successor's process is started. */
const REPLACE_MS = 500;
/** Folders of spares, beside those of runs. */
export const SPARE_PREFIX = '.spare-';

interface Spare {
  readonly folder: string;
  readonly process: StartedProcess;
}

/** Processes that were started ahead of need and wait for a run; each is used once. */
export class Spares {
  private waiting: Spare[] = [];
  private timer: NodeJS.Timeout | undefined;
  private last = 0;
  private closed = false;

  /** @param runs the folder with a folder for each run */
  constructor(
    private readonly count: number,
    private readonly runs: string,
    private readonly options: ProcessOptions,
  ) {
    this.fill();
  }

  /** A process that waits, with its output in the run's folder from now on; null when there is none. */
  take(folder: string, attempt: number): StartedProcess | null {
    const spare = this.waiting.shift();
    if (!spare) return null;
    this.replace();
    // Its open file goes along.
    renameSync(join(spare.folder, OUTPUT_LOG), join(folder, OUTPUT_LOG));
    recordProcess(folder, attempt, spare.process);
    rmSync(spare.folder, { recursive: true, force: true });
    return spare.process;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await Promise.all(this.waiting.splice(0).map((spare) => end(spare)));
  }

  private fill(): void {
    while (!this.closed && this.waiting.length < this.count) {
      this.last += 1;
      const folder = join(this.runs, `${SPARE_PREFIX}${this.last}`);
      try {
        mkdirSync(folder, { recursive: true });
        const spare = { folder, process: startProcess(folder, null, this.options) };
        this.waiting.push(spare);
        void spare.process.exited.then(() => this.lost(spare));
      } catch {
        // Without a spare a run starts its own process, and says what is wrong.
        rmSync(folder, { recursive: true, force: true });
        return;
      }
    }
  }

  /** One that ends while it waits is replaced when the next one is. */
  private lost(spare: Spare): void {
    if (!this.waiting.includes(spare)) return;
    this.waiting = this.waiting.filter((other) => other !== spare);
    void end(spare);
  }

  private replace(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fill(), REPLACE_MS);
    this.timer.unref();
  }
}

async function end({ folder, process }: Spare): Promise<void> {
  await process.kill();
  rmSync(folder, { recursive: true, force: true });
}
