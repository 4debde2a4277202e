import type { Params } from './graph';
import type { MetricPoint } from './events';
import type { RunStatus } from './statuses';

/** The last value of a metric of a run. */
export type FinalMetric = Pick<MetricPoint, 'node_id' | 'name' | 'step' | 'value'>;

/** A run as lists show it. Times are ISO 8601 in UTC. */
export interface RunRow {
  readonly id: string;
  readonly name: string;
  /** As submitted, with the defaults filled in. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly status: RunStatus;
  readonly error: string | null;
  readonly queue_key: string;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly git_commit: string | null;
  readonly git_dirty: boolean | null;
  readonly plugin_pins: Readonly<Record<string, string>> | null;
  readonly sweep_id: string | null;
  readonly sweep_variant: number | null;
  readonly retry_of: string | null;
  readonly worker_id: string | null;
  readonly devices: readonly string[] | null;
  readonly execution_facts: Readonly<Record<string, unknown>> | null;
  readonly fingerprint_digest: string | null;
  /** From 1, among the runs with its queue key; null when it does not wait, or so many wait that nobody counts. */
  readonly queue_position: number | null;
  /** Why it waits, when it is for more than a busy slot. */
  readonly queue_reason: string | null;
  readonly queue_reason_code: string | null;
  readonly queue_reason_params: Readonly<Record<string, unknown>> | null;
  /** Whether the server still works on it. */
  readonly active: boolean;
  readonly final_metrics: readonly FinalMetric[];
}

/** One run. */
export interface RunDetail extends RunRow {
  /** The graph as submitted, secret parameters blank. */
  readonly graph: Params;
  /** The cursor of the newest event; 0 when there is none. */
  readonly last_cursor: number;
}

export interface RunList {
  readonly runs: readonly RunRow[];
  /** How many runs match, on all pages. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** An event as the REST interface gives it. */
export interface RunEventView {
  readonly cursor: number;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>> | null;
  readonly ts: string;
}

export interface RunEventsPage {
  readonly run_id: string;
  readonly status: RunStatus;
  readonly active: boolean;
  readonly events: readonly RunEventView[];
  /** Where to go on reading. */
  readonly cursor: number;
}

export interface MetricView extends MetricPoint {
  readonly ts: string;
}

export interface RunMetrics {
  readonly run_id: string;
  readonly names: readonly string[];
  readonly metrics: readonly MetricView[];
}

export interface ArtifactView {
  readonly id: string;
  readonly kind: string;
  readonly path: string;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly node_id: string;
  readonly backend: 'local' | 'mount' | 'transfer' | 's3';
  readonly mount_label: string | null;
  readonly created_at: string;
}

export interface RunArtifacts {
  readonly run_id: string;
  readonly artifacts: readonly ArtifactView[];
}

export interface RunSubmitted {
  readonly run_id: string;
  readonly status: RunStatus;
}

export interface RunCancelled {
  readonly run_id: string;
  readonly status: RunStatus;
  /** Whether this request is why it stops. */
  readonly cancelled: boolean;
}

export interface RunMoved {
  readonly run_id: string;
  /** As in the run's row; null when it has just begun to execute. */
  readonly queue_position: number | null;
}

export interface RunDeleted {
  readonly run_id: string;
  readonly deleted: true;
}

/** A place in a run's console log where the searched text stands. */
export interface LogMatch {
  /** Byte offset of the line. */
  readonly offset: number;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

export interface LogSearch {
  readonly run_id: string;
  readonly matches: readonly LogMatch[];
  /** Whether there are more than were asked for. */
  readonly truncated: boolean;
}
