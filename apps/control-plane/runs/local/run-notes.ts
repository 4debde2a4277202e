import { Injectable, Logger } from '@nestjs/common';
import { RunService } from '../run-service';

/** A line in the server's log for each step in the life of a run, those included that the server's own stop causes. */
@Injectable()
export class RunNotes {
  private readonly logger = new Logger('runs');

  constructor(runs: RunService) {
    runs.changes.subscribe(({ id, status }) =>
      this.logger.log({ run_id: id, status: status ?? 'deleted', msg: 'run' }),
    );
  }
}
