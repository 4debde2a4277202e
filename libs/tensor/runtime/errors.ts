import type { Device } from './values';

export type RuntimeErrorCode =
  | 'shape_mismatch'
  | 'invalid_argument'
  | 'unsupported'
  | 'handle_freed'
  | 'out_of_memory'
  | 'non_finite'
  | 'runtime_failed'
  | 'host_exited'
  | 'start_failed'
  | 'protocol'
  | 'cancelled';

export interface RuntimeErrorInfo {
  /** The op, layer or command that failed. */
  readonly op?: string;
  /** The scope (node) that queued it, also when the error surfaces later. */
  readonly label?: string;
  readonly device?: Device;
  readonly signal?: string;
  readonly exitCode?: number;
  /** The exception class on the far side. */
  readonly detail?: string;
  /** The last 4 KB of the host's standard error. */
  readonly output?: string;
}

/** An error of the tensor seam; the same codes and words on every runtime. */
export class RuntimeError extends Error implements RuntimeErrorInfo {
  readonly op?: string;
  readonly label?: string;
  readonly device?: Device;
  readonly signal?: string;
  readonly exitCode?: number;
  readonly detail?: string;
  readonly output?: string;

  constructor(
    readonly code: RuntimeErrorCode,
    message: string,
    info: RuntimeErrorInfo = {},
  ) {
    super(message);
    this.name = 'RuntimeError';
    Object.assign(this, info);
  }
}
