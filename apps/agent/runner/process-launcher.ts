import { join } from 'node:path';
import type { AssignFrame } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import type { LaunchedRun, RunLauncher } from './launcher';
import type { RunOutlet } from './run-outlet';
import { RunProcess } from './run-process';
import { Spares } from './spares';
import type { ProcessOptions, StartedProcess } from './started-process';
import { startProcess } from './started-process';

/** Folders of runs, below the agent's. */
export const RUNS_FOLDER = 'agent-runs';

export interface LauncherOptions extends ProcessOptions {
  /** Absolute. */
  readonly agentFolder: string;
  /** How many processes are started ahead of need; default 0. */
  readonly spare?: number;
  readonly killAfterTerminateMs?: number;
}

/** Starts runs in processes of this machine. */
export class ProcessLauncher implements RunLauncher {
  private readonly runs: string;
  private readonly spares: Spares;

  constructor(private readonly options: LauncherOptions) {
    this.runs = join(options.agentFolder, RUNS_FOLDER);
    this.spares = new Spares(options.spare ?? 0, this.runs, options);
  }

  launch(assignment: AssignFrame, outlet: RunOutlet): LaunchedRun {
    const { killAfterTerminateMs } = this.options;
    const folder = join(this.runs, assignment.run_id);
    return new RunProcess({
      assignment,
      outlet,
      folder,
      start: () => this.start(assignment, folder),
      ...(killAfterTerminateMs !== undefined && { killAfterTerminateMs }),
    });
  }

  /** Ends the processes that wait for a run. Runs are not touched. */
  close(): Promise<void> {
    return this.spares.close();
  }

  private start({ storage, attempt }: AssignFrame, folder: string): StartedProcess {
    if (storage.backend !== 'local') {
      const message = `its files are kept with the backend "${storage.backend}", which this worker cannot use`;
      throw new CodedError('storage_unsupported', message, { backend: storage.backend });
    }
    return this.spares.take(folder, attempt) ?? startProcess(folder, attempt, this.options);
  }
}
