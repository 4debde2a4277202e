import type { RunRecord } from '@cdui/execution';
import type { FinalMetric, Reason, RunRow } from '@cdui/protocol';
import { isPlainObject, isTerminal } from '@cdui/protocol';

/** What the queue knows of a run that waits. */
export interface QueuePlace {
  readonly position: number | null;
  readonly reason: Reason | null;
}

/** A run as it is shown. */
export function runRow(record: RunRecord, { position, reason }: QueuePlace, metrics: readonly FinalMetric[]): RunRow {
  return {
    id: record.id,
    name: record.name,
    options: record.options,
    status: record.status,
    error: record.error,
    queue_key: record.queueKey,
    created_at: isoTime(record.createdAt),
    started_at: record.startedAt === null ? null : isoTime(record.startedAt),
    finished_at: record.finishedAt === null ? null : isoTime(record.finishedAt),
    git_commit: record.gitCommit,
    git_dirty: record.gitDirty,
    plugin_pins: record.pluginPins,
    sweep_id: record.sweepId,
    sweep_variant: record.sweepVariant,
    retry_of: record.retryOf,
    worker_id: record.workerId,
    devices: record.devices,
    execution_facts: factsOf(record),
    fingerprint_digest: record.fingerprintDigest,
    queue_position: position,
    queue_reason: reason?.message ?? null,
    queue_reason_code: reason?.code ?? null,
    queue_reason_params: reason?.params ?? null,
    active: !isTerminal(record.status),
    final_metrics: metrics,
  };
}

/** What was recorded of a worker's run counts in a column of its own, and is shown with the rest of what the next server goes by. */
function factsOf({ facts, recordedSeq }: RunRecord): RunRow['execution_facts'] {
  const resume = facts?.['worker_resume'];
  return isPlainObject(resume) ? { ...facts, worker_resume: { ...resume, seq: recordedSeq } } : facts;
}

/** @param ms since the epoch */
function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
