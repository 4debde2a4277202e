import type { Writable } from 'node:stream';

/**
 * Writes frames to the agent. What is reported while a write is under way is gathered and goes with the next one; nothing ever waits
 * for more to come.
 */
export class PipeWriter {
  private gathered: Uint8Array[] = [];
  private writing = 0;
  private waiting: (() => void)[] = [];

  /** @param taken called when the agent's end took in so many frames, or is gone and will never take any */
  constructor(
    private readonly pipe: Writable,
    private readonly taken: (frames: number) => void,
  ) {
    // The agent is gone: the watchdog ends this process, and until then nothing may wait for it.
    pipe.on('error', () => undefined);
  }

  /** @param now whether it must leave before the caller goes on: it may be the last thing that this thread ever says */
  push(frame: Uint8Array, now: boolean): void {
    this.gathered.push(frame);
    if (now || this.writing === 0) this.flush();
  }

  /** Resolves when everything was taken in. */
  drained(): Promise<void> {
    return this.idle ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
  }

  private get idle(): boolean {
    return this.writing === 0 && this.gathered.length === 0;
  }

  private flush(): void {
    const frames = this.gathered;
    this.gathered = [];
    this.writing += 1;
    this.pipe.write(frames.length === 1 ? frames[0] : Buffer.concat(frames), () => {
      this.writing -= 1;
      this.taken(frames.length);
      if (this.writing === 0 && this.gathered.length > 0) this.flush();
      if (this.idle) for (const resolve of this.waiting.splice(0)) resolve();
    });
  }
}
