import type {
  ArtifactPayload,
  InnerNodeStatusPayload,
  MetricPoint,
  NodeStatusPayload,
  WarningPayload,
} from '@cdui/protocol';

/** A node-level event as it is stored. */
export type NodeEvent =
  | { readonly type: 'node_status'; readonly payload: NodeStatusPayload }
  | { readonly type: 'inner_node_status'; readonly payload: InnerNodeStatusPayload };

/**
 * Where a run's reports go. Synchronous; each call returns whether the sink is below its high-water mark. `atMs` is
 * milliseconds since the run's start on the reporter's monotonic clock.
 */
export interface RunSinks {
  /** @param afterMs how long after its placing the run began; left out when it begins in this moment */
  started(afterMs?: number): boolean;
  emit(event: NodeEvent, atMs: number): boolean;
  recordMetrics(points: readonly MetricPoint[], atMs: number): boolean;
  recordArtifact(artifact: ArtifactPayload, atMs: number): boolean;
  warn(warning: WarningPayload, atMs: number): boolean;
  console(text: string): boolean;
  drained(): Promise<void>;
}
