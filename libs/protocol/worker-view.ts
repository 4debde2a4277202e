import type { DeviceFacts } from './device-facts';

/** Why a hello was refused. */
export interface RejectView {
  readonly code: string;
  readonly reason: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A device as a worker offers it. */
export interface WorkerDeviceView extends DeviceFacts {
  /** Whether it admits runs by their memory. */
  readonly shared_by_memory: boolean;
  readonly slots: {
    readonly limit: number;
    readonly used: number;
    /** Whose limit applies, when it is another offerer's of the same card. */
    readonly limited_by: string | null;
  };
  /** The other slots that are this physical device. */
  readonly same_card: readonly { readonly worker: string; readonly device: string }[];
}

export const WORKER_KINDS = ['session', 'enrolled', 'one_shot'] as const;
/** `disconnected`: it is away, and runs wait for it. */
export const WORKER_STATUSES = ['online', 'offline', 'disconnected'] as const;

/** A worker as lists show it. Times are ISO 8601 in UTC. */
export interface WorkerRow {
  readonly id: string;
  readonly name: string;
  readonly kind: (typeof WORKER_KINDS)[number];
  readonly status: (typeof WORKER_STATUSES)[number];
  readonly draining: boolean;
  /** Whether its node types differ from the server's. */
  readonly degraded: boolean;
  readonly missing_types: readonly string[];
  readonly extra_types: readonly string[];
  readonly changed_types: readonly string[];
  readonly version: string | null;
  readonly protocol_version: number | null;
  readonly platform: string | null;
  readonly capabilities: readonly string[];
  readonly devices: readonly WorkerDeviceView[];
  readonly mounts: readonly string[];
  /** Ids of the runs that it has. */
  readonly running: readonly string[];
  readonly fingerprint_digest: string | null;
  readonly catalog_hash: string | null;
  readonly connected_at: string | null;
  readonly last_seen_at: string | null;
  readonly last_reject: RejectView | null;
  readonly address: string | null;
}

export interface WorkerList {
  readonly workers: readonly WorkerRow[];
  /** The last refusal of each name that is no worker's. */
  readonly rejected: readonly ({ readonly name: string } & RejectView)[];
}

/** One minute of a device. */
export interface DeviceSampleView {
  readonly at: string;
  readonly free_bytes: number | null;
  /** 0 to 100. */
  readonly utilization: number | null;
}

/** The last hour of a worker's devices. */
export interface WorkerHistory {
  readonly id: string;
  readonly devices: readonly { readonly device: string; readonly samples: readonly DeviceSampleView[] }[];
}
