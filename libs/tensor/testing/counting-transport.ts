import type { ClientFrame, Command, Hello, ServerFrame, Transport } from '../runtime/wire';

/** Passes everything on and counts what crosses. */
export class CountingTransport implements Transport {
  onFrame: Transport['onFrame'] = () => undefined;
  onDown: Transport['onDown'] = () => undefined;
  framesSent = 0;
  /** The most commands that were sent and not acknowledged at a time. */
  mostOpen = 0;
  private sent = 0;
  private acknowledged = 0;
  replies = 0;
  readonly commands = new Map<Command[0], number>();

  constructor(private readonly inner: Transport) {
    inner.onDown = (error) => this.onDown(error);
    inner.onFrame = (frame: ServerFrame) => {
      this.acknowledged = Math.max(this.acknowledged, frame.a);
      this.replies += frame.r?.length ?? 0;
      this.onFrame(frame);
    };
  }

  get hello(): Promise<Hello> {
    return this.inner.hello;
  }

  send(frame: ClientFrame): void {
    this.framesSent++;
    this.sent = frame.s + frame.b.length - 1;
    this.mostOpen = Math.max(this.mostOpen, this.sent - this.acknowledged);
    for (const [name] of frame.b) this.commands.set(name, (this.commands.get(name) ?? 0) + 1);
    this.inner.send(frame);
  }

  close(options: { force: boolean }): Promise<void> {
    return this.inner.close(options);
  }

  reset(): void {
    this.framesSent = 0;
    this.replies = 0;
    this.mostOpen = 0;
    this.commands.clear();
  }
}
