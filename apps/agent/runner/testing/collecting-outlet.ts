import type { NumberedFrame, NumberedFrameType, RunOutcome } from '@cdui/protocol';
import { checkAgentFrame, frameHead } from '@cdui/protocol';
import type { RunOutlet } from '../run-outlet';

/** Keeps the frames of a run as the control plane would read them. With a high-water mark it says stop every so many frames, until `drain`. */
export class CollectingOutlet implements RunOutlet {
  readonly frames: NumberedFrame[] = [];
  /** Called with each frame. */
  onFrame: (frame: NumberedFrame) => void = () => undefined;
  private readonly watchers = new Set<() => void>();
  private waiting: (() => void)[] = [];
  private undrained = 0;

  constructor(private readonly highWater = Infinity) {}

  frame(type: NumberedFrameType, members: Buffer): boolean {
    const text = `${frameHead(type, 'r1', 1, this.frames.length + 1)}${members.toString('utf8')}`;
    const frame = checkAgentFrame(JSON.parse(text)) as NumberedFrame;
    this.frames.push(frame);
    this.onFrame(frame);
    this.undrained += 1;
    for (const look of [...this.watchers]) look();
    return this.undrained < this.highWater;
  }

  drained(): Promise<void> {
    if (this.undrained < this.highWater) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** How many frames came since the last drain. */
  get pending(): number {
    return this.undrained;
  }

  /** Takes everything in, so that more may come. */
  drain(): void {
    this.undrained = 0;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  of<T extends NumberedFrameType>(type: T): readonly Extract<NumberedFrame, { type: T }>[] {
    return this.frames.filter((frame): frame is Extract<NumberedFrame, { type: T }> => frame.type === type);
  }

  /** `node:status` in the order reported. */
  get trail(): readonly string[] {
    return this.of('event').map(({ event }) => `${event.payload.node_id}:${event.payload.status}`);
  }

  /** How the run ended. */
  get outcome(): RunOutcome {
    const [frame, ...more] = this.of('run_finished');
    if (!frame || more.length > 0) throw new Error(`${more.length + Number(!!frame)} frames say that the run finished`);
    return frame.outcome;
  }

  /** Resolves as soon as what came holds what is asked for. Rejects when the run ends without it. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const ended = this.frames.at(-1)?.type === 'run_finished';
        if (!holds() && !ended) return;
        this.watchers.delete(look);
        if (holds()) resolve();
        else reject(new Error(`The run ended before that: ${JSON.stringify(this.outcome)}`));
      };
      this.watchers.add(look);
      look();
    });
  }
}
