import type { GraphFile, Reason, RunFolders, RunOptions, RunOutcome, StopReason } from '@cdui/protocol';
import type { RunSinks } from './sinks';

/** The scheduler's answer: where a run executes and what it holds there. */
export interface Placement {
  /** `local` or a worker's id. */
  readonly worker: string;
  readonly devices: readonly string[];
  readonly slots: readonly { readonly worker: string; readonly device: string }[];
}

export type ExecutionRequest =
  | {
      readonly kind: 'start';
      readonly runId: string;
      readonly graph: GraphFile;
      readonly options: RunOptions;
      readonly placement: Placement;
      readonly folders: RunFolders;
      readonly inputs?: Readonly<Record<string, unknown>>;
      readonly sinks: RunSinks;
      /** Aborted with a `StopReason` as its reason. */
      readonly signal: AbortSignal;
    }
  | {
      readonly kind: 'adopt';
      readonly runId: string;
      readonly resume: Readonly<Record<string, unknown>>;
      readonly placement: Placement;
      readonly sinks: RunSinks;
      readonly signal: AbortSignal;
    };

export interface ExecutionOutcome extends Omit<RunOutcome, 'reason'> {
  readonly reason: Reason | null;
  readonly facts: Readonly<Record<string, unknown>> | null;
}

/** Executes one run's graph and reports how it ended. Never rejects for what the graph does; rejects for a defect only. */
export interface Executor {
  run(request: ExecutionRequest): Promise<ExecutionOutcome>;
}

export type { StopReason };
