import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { version } from '../config/version';

/** This start of the program. */
@Injectable()
export class Boot {
  /** New at each start: a client that sees another one knows that the server was restarted. */
  readonly id = randomUUID();
  readonly version = version();
  readonly startedAt = Date.now();
  /** Whether it is on its way out: it starts nothing more, and load balancers should look elsewhere. */
  stopping = false;
}
