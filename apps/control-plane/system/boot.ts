import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Injectable } from '@nestjs/common';
import { version } from '../config/version';

/** This start of the program. */
@Injectable()
export class Boot {
  /** New at each start: a client that sees another one knows that the server was restarted. */
  readonly id = randomUUID();
  readonly version = version();
  readonly startedAt = Date.now();
  private readonly stop = new AbortController();

  constructor() {
    // Every request that waits listens to it.
    setMaxListeners(0, this.stop.signal);
  }

  /** Whether it is on its way out: it starts nothing more, and load balancers should look elsewhere. */
  get stopping(): boolean {
    return this.stop.signal.aborted;
  }

  /** There is no way back. */
  set stopping(value: true) {
    if (value) this.stop.abort();
  }

  /** Aborted when the server begins to stop: whoever waits for something should answer with what there is. */
  get stopped(): AbortSignal {
    return this.stop.signal;
  }
}
