import type { Clock, Fingerprint, RunStore } from '@cdui/execution';
import type { DeviceFacts } from '@cdui/protocol';

/** What is remembered of a worker: whoever sends it a run after a restart need not wait until it is back. */
export interface StoredWorker {
  readonly id: string;
  readonly devices: readonly DeviceFacts[];
  readonly capabilities: readonly string[];
  readonly platform: string | null;
  readonly version: string | null;
  readonly protocolVersion: number | null;
  /** Milliseconds since the epoch. */
  readonly lastSeenAt: number | null;
}

export interface WorkerStore {
  load(): Promise<readonly StoredWorker[]>;
  keep(worker: StoredWorker): Promise<void>;
}

/** All that workers are given from outside, so that a simulation can be all of it. */
export interface WorkerWorld {
  readonly clock: Clock;
  readonly store: Pick<RunStore, 'get' | 'addFacts'>;
  readonly workers: WorkerStore;
  readonly limits: WorkerLimits;
  /** What names the server's machine to others; null where the system does not tell. */
  readonly machineId: string | null;
  /** Of this program. */
  readonly version: string;
  /** Type -> sha256 of its definition, as this server has it. */
  readonly nodeTypes: () => Readonly<Record<string, string>>;
  readonly fingerprint: (document: Readonly<Record<string, unknown>>) => Fingerprint;
  /** How much of what a run printed is kept: bytes from its beginning on. */
  readonly printed: (runId: string) => Promise<number>;
  /** Tells whoever looks after the server. */
  readonly log: (level: 'info' | 'warn', message: string, params: Readonly<Record<string, unknown>>) => void;
  readonly report: (what: string, error: unknown) => void;
}

/** In milliseconds, unless they say otherwise. */
export interface WorkerLimits {
  readonly heartbeatMs: number;
  readonly assignTimeoutMs: number;
  readonly resumeGraceMs: number;
  /** How long a run that was asked to stop may go on. In seconds. */
  readonly cancelGraceS: number;
  readonly payloadCapBytes: number;
  readonly maxParallelNodes: number;
}
