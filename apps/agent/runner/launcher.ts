import type { AssignFrame } from '@cdui/protocol';
import type { RunOutlet } from './run-outlet';

/** Who asks a run to stop: the control plane; or the agent, because it ends itself, or because nobody has asked for so long what the run does. */
export type StopAuthor = 'cancel' | 'agent_stopped' | 'server_unreachable';

/** Starts the processes of runs. */
export interface RunLauncher {
  /**
   * Starts a process for the run. The run's folder must exist, without what an older attempt left there. Never throws: a process that cannot be
   * started is reported through the outlet as `run_finished` with the reason `run_not_started`.
   */
  launch(assignment: AssignFrame, outlet: RunOutlet): LaunchedRun;
}

/** A run whose process was started, or is about to be. */
export interface LaunchedRun {
  /**
   * Asks the run to stop. When it goes on after `graceS` seconds its process is terminated, and its tree killed `KILL_AFTER_TERMINATE_S` later;
   * with 0 it is killed at once. A later call may shorten the time and never lengthens it.
   */
  stop(graceS: number, by: StopAuthor): void;
  /** Resolves when the whole process tree is gone and `run_finished` was handed to the outlet. Never rejects. */
  readonly over: Promise<void>;
}
