import type { RejectFrame, RejectView, WorkerHistory, WorkerRow } from '@cdui/protocol';
import type { Slot, SlotUsage } from '@cdui/scheduling';
import type { Worker } from '../workers/worker';

type Usage = (slot: Slot) => SlotUsage;

/** A worker as it is shown. @param usage of its slots */
export function workerRow(worker: Worker, usage: Usage): WorkerRow {
  const { id, hello, remembered, catalogDifference: difference } = worker;
  const differences = difference.missing.length + difference.extra.length + difference.changed.length;
  return {
    id,
    name: id,
    kind: 'session',
    status: worker.status,
    draining: worker.draining,
    degraded: differences > 0,
    missing_types: difference.missing,
    extra_types: difference.extra,
    changed_types: difference.changed,
    version: hello?.version ?? remembered?.version ?? null,
    protocol_version: hello?.protocol_version ?? remembered?.protocolVersion ?? null,
    platform: hello?.platform ?? remembered?.platform ?? null,
    capabilities: worker.capabilities,
    devices: worker.devicesNow.map((facts) => {
      const { used, limit, limitedBy, sameCard } = usage({ worker: id, device: facts.device });
      return { ...facts, shared_by_memory: false, slots: { limit, used, limited_by: limitedBy }, same_card: sameCard };
    }),
    mounts: hello?.mounts ?? [],
    running: [...new Set([...worker.running, ...worker.runs.keys()])],
    fingerprint_digest: worker.fingerprint?.digest ?? null,
    catalog_hash: hello?.catalog_hash ?? null,
    connected_at: worker.connection ? isoTime(worker.connectedAt) : null,
    last_seen_at: isoTime(worker.lastSeenAt),
    last_reject: worker.lastReject && rejectView(worker.lastReject),
    address: worker.connection?.address ?? null,
  };
}

export function rejectView({ code, reason, params }: RejectFrame): RejectView {
  return { code, reason, params };
}

export function workerHistory({ id, history }: Worker): WorkerHistory {
  return {
    id,
    devices: Object.entries(history.samples).map(([device, samples]) => ({
      device,
      samples: samples.map((sample) => ({ ...sample, at: new Date(sample.at).toISOString() })),
    })),
  };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
