import type { NodeContext } from '@cdui/node-sdk';

/** Milliseconds on a clock that only runs forward. */
export type MonotonicClock = () => number;

/** The least time between two batch frames. */
export const BATCH_FRAME_INTERVAL_MS = 500;

export interface BatchFrame {
  readonly epoch: number;
  readonly batch: number;
  readonly total_batches: number;
  readonly loss: number | null;
  readonly phase: 'train' | 'validation';
}

/** Progress frames of a loop; those of batches come at most every half second, whatever the phase. */
export class ProgressReporter {
  private last: number;

  constructor(
    private readonly context: NodeContext,
    private readonly clock: MonotonicClock,
  ) {
    this.last = clock();
  }

  /** Whether a batch frame may be sent now. */
  due(): boolean {
    return this.clock() - this.last >= BATCH_FRAME_INTERVAL_MS;
  }

  batch(frame: BatchFrame): void {
    this.last = this.clock();
    this.context.progress({ event: 'batch', ...frame, loss: frame.loss === null ? null : rounded(frame.loss) });
  }

  config(config: Readonly<Record<string, unknown>>): void {
    this.context.progress({ event: 'config', config });
  }

  epoch(frame: Readonly<Record<string, unknown>>): void {
    this.context.progress({ event: 'epoch', ...frame });
  }
}

/** Six decimals, as frames carry losses. Not-a-number and infinity stay what they are. */
export function rounded(value: number): number {
  return Number.isFinite(value) ? Number(value.toFixed(6)) : value;
}
