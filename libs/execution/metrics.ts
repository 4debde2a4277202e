import type { MetricPoint, PortFacts } from '@cdui/protocol';
import { metricPoint } from './node-events';

/** A batch is complete with this many points, or when its first point is this old. */
export const METRIC_BATCH_POINTS = 64;
export const METRIC_BATCH_MS = 500;

/** Gathers metric points into batches. It has no clock: whoever uses it says what time it is, and comes back when `dueAt` says so. */
export class MetricBatcher {
  private points: MetricPoint[] = [];
  private firstAt = 0;

  /** When the batch must be sent at the latest, on the caller's clock; null while it is empty. */
  get dueAt(): number | null {
    return this.points.length === 0 ? null : this.firstAt + METRIC_BATCH_MS;
  }

  /** @returns the batch if the point completed it */
  add(point: MetricPoint, nowMs: number): readonly MetricPoint[] | null {
    if (this.points.length === 0) this.firstAt = nowMs;
    this.points.push(point);
    return this.points.length >= METRIC_BATCH_POINTS || nowMs >= this.firstAt + METRIC_BATCH_MS ? this.take() : null;
  }

  /** @returns the batch if it is due */
  due(nowMs: number): readonly MetricPoint[] | null {
    return this.dueAt !== null && nowMs >= this.dueAt ? this.take() : null;
  }

  /** @returns whatever there is; null when there is nothing */
  take(): readonly MetricPoint[] | null {
    if (this.points.length === 0) return null;
    const batch = this.points;
    this.points = [];
    return batch;
  }
}

/**
 * Metrics of a node that records none itself: its finite numeric output ports, as series of one point at step 1. A node that records
 * explicitly is not scanned.
 */
export function inferredMetrics(
  nodeId: string,
  ports: readonly PortFacts[],
  recordsExplicitly: boolean,
): readonly MetricPoint[] {
  if (recordsExplicitly) return [];
  return ports.flatMap((facts) =>
    facts.kind === 'scalar' && typeof facts.value === 'number' && Number.isFinite(facts.value)
      ? [metricPoint(nodeId, facts.port, facts.value, 1)]
      : [],
  );
}
