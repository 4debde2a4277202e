import type { Socket } from 'node:net';
import { WebSocket } from 'ws';

/**
 * The sending side of a socket, paced by it: whoever has much to send waits until the system has taken what was sent before, so that a client
 * that does not read costs one page of frames and no more.
 */
export class Outlet {
  constructor(
    private readonly socket: WebSocket,
    /** Below the WebSocket: frames of one page leave in one piece. */
    private readonly carrier: Socket,
  ) {}

  get open(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  /** Sends frames in one piece; resolves when the system has taken them, or the socket is gone. */
  send(frames: readonly string[]): Promise<void> {
    const last = frames.length - 1;
    if (last < 0 || !this.open) return Promise.resolve();
    return new Promise((resolve) => {
      this.carrier.cork();
      frames.forEach((frame, index) => {
        if (index < last) this.socket.send(frame, ignore);
        else this.socket.send(frame, () => resolve());
      });
      this.carrier.uncork();
    });
  }
}

/** A socket that is gone says so by its `close`; what was not sent is in the log. */
function ignore(): void {}
