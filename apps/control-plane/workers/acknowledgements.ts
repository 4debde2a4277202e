import type { Clock } from '@cdui/execution';
import { ACK_FRAMES, ACK_MS } from '@cdui/protocol';

/** Tells a worker which frames are durable: after so many, or so long, whichever comes first. */
export class Acknowledgements {
  private durable: number;
  private told: number;
  private cancel: (() => void) | null = null;

  /** @param from the newest frame that was durable before */
  constructor(
    private readonly clock: Clock,
    private readonly send: (seq: number) => void,
    from = 0,
  ) {
    this.durable = from;
    this.told = from;
  }

  reached(seq: number): void {
    this.durable = Math.max(this.durable, seq);
    if (this.durable - this.told >= ACK_FRAMES) this.tell();
    else if (this.durable > this.told) this.cancel ??= this.clock.after(ACK_MS, () => this.tell());
  }

  /** Says it now, also when it was said before: to one that came back. */
  tell(): void {
    this.stop();
    this.told = this.durable;
    this.send(this.durable);
  }

  stop(): void {
    this.cancel?.();
    this.cancel = null;
  }
}
