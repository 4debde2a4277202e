export type ErrorMode = 'fail_fast' | 'continue' | 'retry';

/** The engine's part of a run's options, validated by whoever accepts the run. */
export interface RunOptions {
  /** `cpu`, `cuda:N`, `mps:N`. */
  readonly device?: string;
  /** 0 ... 2^32-1. */
  readonly seed?: number | null;
  readonly deterministic?: boolean;
  readonly record_outputs?: boolean;
  readonly verbose?: boolean;
  readonly backward_mode?: boolean;
  readonly auto_backward?: boolean;
  readonly weights_persistent?: boolean;
  readonly graph_id?: string;
  readonly error_mode?: ErrorMode;
  /** 0 ... 10 extra attempts. */
  readonly max_retries?: number;
  /** Canvas only: nodes the client edited since the last run. */
  readonly changed_nodes?: readonly string[];
}

/** Why a run is asked to stop. */
export type StopReason = 'user' | 'budget' | 'shutdown' | 'lost';

/** Folders a run may use. Absolute paths. */
export interface RunFolders {
  readonly data: string;
  readonly models: string;
  readonly images: string;
  readonly files: string;
  readonly graphs: string;
  /** Where datasets are cached and looked for (a relative `data_dir` is resolved here). */
  readonly datasets: string;
  readonly output: string;
  readonly customNodes: string | null;
  /** The program's own example graphs and their tables, read only; absent where they are not installed. */
  readonly examples?: string | null;
}
