import type { Executor } from '@cdui/execution';
import type { RunSubmitted } from '@cdui/protocol';
import { checkCanvasSubmission, CodedError } from '@cdui/protocol';
import type { RunService } from './run-service';
import type { CanvasSession } from './runs';
import { CanvasSessions } from './runs';

/** Executes the runs of one canvas and remembers results between them. */
export interface CanvasExecutor extends Executor {
  clearCache(): void;
  /** Called when nothing runs in it. */
  close(): Promise<void>;
}

/** Sessions of canvases on a run service. */
export class CanvasSessionService extends CanvasSessions {
  private opened = 0;

  constructor(
    private readonly runs: RunService,
    private readonly openExecutor: () => CanvasExecutor,
  ) {
    super();
  }

  open(): CanvasSession {
    this.opened += 1;
    return new RunningSession(`canvas-${this.opened}`, this.runs, this.openExecutor());
  }
}

class RunningSession implements CanvasSession {
  private closed: Promise<void> | null = null;
  /** Settles when what was asked of it so far is over. */
  private busy: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly id: string,
    private readonly runs: RunService,
    private readonly executor: CanvasExecutor,
  ) {}

  async execute(request: unknown): Promise<RunSubmitted> {
    if (this.closed)
      throw new CodedError('session_closed', 'This session is closed: open another one to run the graph');
    const { id, executor } = this;
    const accepted = this.runs.accept({ ...checkCanvasSubmission(request), session: { id, executor } });
    const over = accepted.then(({ run_id: runId }) => this.runs.ended(runId)).catch(() => undefined);
    this.busy = Promise.all([this.busy, over]);
    return accepted;
  }

  clearCache(): void {
    this.executor.clearCache();
  }

  close(): Promise<void> {
    this.closed ??= this.busy.then(() => this.executor.close());
    return this.closed;
  }
}
