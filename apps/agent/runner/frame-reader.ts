import type { Readable } from 'node:stream';
import { PipeReader } from '@cdui/protocol';
import type { RunOutlet } from './run-outlet';

/** What is left in the pipe of a process that is gone comes at once, unless the outlet is slow. */
const LEFT_OVER_MS = 5_000;

const NOTHING = new Uint8Array(0);

/** Hands what a run's process reports to the outlet, as fast as that takes it; the pipe holds up the process. */
export class FrameReader {
  /** The members of `run_finished`, which is kept back until the process is gone. */
  finished: Buffer | null = null;
  /** Whether something came that is no frame. */
  broken = false;
  /** Called when `finished` is there, or it is broken. */
  onEnd: () => void = () => undefined;
  private readonly closed: Promise<void>;
  private readonly reader = new PipeReader();
  private draining: Promise<void> | null = null;

  constructor(
    private readonly pipe: Readable,
    private readonly outlet: RunOutlet,
  ) {
    this.closed = new Promise((resolve) => pipe.once('close', () => resolve()));
    pipe.on('data', (chunk: Buffer) => this.take(chunk));
  }

  /** Resolves when everything was handed on that the process, which is gone, wrote before its end. */
  async rest(): Promise<void> {
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), LEFT_OVER_MS)));
      const what = await Promise.race([this.closed, late]);
      clearTimeout(timer);
      if (what !== 'late') return;
      // Something outside of the tree holds the pipe open, unless the outlet makes it wait.
      if (this.draining === null) this.pipe.destroy();
      else await this.draining;
    }
  }

  private take(chunk: Buffer): void {
    if (this.broken) return;
    let more = true;
    try {
      const frames = this.reader.push(chunk);
      for (const { kind, members } of frames) {
        if (kind === 'ready' || this.finished) continue;
        const bytes = Buffer.from(members.buffer, members.byteOffset, members.byteLength);
        if (kind === 'run_finished') {
          this.finished = bytes;
          this.onEnd();
        } else more = this.outlet.frame(kind, bytes) && more;
      }
      // Nothing more may come behind what is no frame.
      if (frames.length > 0 && this.reader.broken) this.reader.push(NOTHING);
    } catch {
      this.broken = true;
      this.onEnd();
    }
    if (!more) this.pause();
  }

  private pause(): void {
    if (this.draining) return;
    this.pipe.pause();
    this.draining = this.outlet.drained().then(() => {
      this.draining = null;
      this.pipe.resume();
    });
  }
}
