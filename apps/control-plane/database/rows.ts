import type { RunRecord, StoredArtifact } from '@cdui/execution';
import type { RunStatus } from '@cdui/protocol';

/** A row of `exec_runs`, without the graph. */
export interface RunRow {
  readonly id: string;
  readonly name: string;
  readonly lane: RunRecord['lane'];
  readonly options: string;
  readonly status: RunStatus;
  readonly error: string | null;
  readonly queue_key: string;
  readonly queue_seq: number;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly worker_id: string | null;
  readonly devices: string | null;
  readonly git_commit: string | null;
  readonly git_dirty: number | null;
  readonly plugin_pins: string | null;
  readonly sweep_id: string | null;
  readonly sweep_variant: number | null;
  readonly retry_of: string | null;
  readonly had_secrets: number;
  readonly fingerprint_digest: string | null;
  readonly execution_facts: string | null;
  readonly recorded_seq: number;
}

export function runRecord(row: RunRow): RunRecord {
  return {
    id: row.id,
    name: row.name,
    lane: row.lane,
    options: JSON.parse(row.options) as RunRecord['options'],
    status: row.status,
    error: row.error,
    queueKey: row.queue_key,
    queueSeq: row.queue_seq,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    workerId: row.worker_id,
    devices: parsed(row.devices),
    gitCommit: row.git_commit,
    gitDirty: row.git_dirty === null ? null : row.git_dirty !== 0,
    pluginPins: parsed(row.plugin_pins),
    sweepId: row.sweep_id,
    sweepVariant: row.sweep_variant,
    retryOf: row.retry_of,
    hadSecrets: row.had_secrets !== 0,
    fingerprintDigest: row.fingerprint_digest,
    facts: parsed(row.execution_facts),
    recordedSeq: row.recorded_seq,
  };
}

export interface ArtifactRow {
  readonly id: string;
  readonly kind: string;
  readonly path: string;
  readonly meta: string;
  readonly node_id: string;
  readonly backend: StoredArtifact['backend'];
  readonly mount_label: string | null;
  readonly created_at: number;
}

export function storedArtifact(row: ArtifactRow): StoredArtifact {
  return {
    id: row.id,
    kind: row.kind,
    path: row.path,
    meta: JSON.parse(row.meta) as StoredArtifact['meta'],
    nodeId: row.node_id,
    backend: row.backend,
    mountLabel: row.mount_label,
    createdAt: row.created_at,
  };
}

function parsed<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}
