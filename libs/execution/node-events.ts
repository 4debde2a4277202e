import type { ArtifactPayload, InnerNodeStatusPayload, MetricPoint, NodeStatusPayload } from '@cdui/protocol';
import type { NodeReport } from './node-report';
import type { NodeEvent } from './sinks';
import { summaryEntry } from './summaries';

/** The event of a report: `node_status`, or `inner_node_status` for a node inside a preset or subgraph instance. */
export function nodeEvent(report: NodeReport): NodeEvent {
  const { nodeId, innerId } = report.origin;
  if (innerId !== null) return { type: 'inner_node_status', payload: innerPayload(report, nodeId, innerId) };
  const outputs = [...(report.outputs ?? []), ...(report.ports ?? []).map(summaryEntry)];
  const payload: NodeStatusPayload = {
    node_id: nodeId,
    status: report.status,
    ...errorMembers(report),
    ...(outputs.length > 0 && { outputs }),
  };
  return { type: 'node_status', payload };
}

function innerPayload(report: NodeReport, nodeId: string, innerId: string): InnerNodeStatusPayload {
  return { node_id: nodeId, inner_id: innerId, status: report.status, ...errorMembers(report) };
}

function errorMembers({ error, errorType, trace }: NodeReport): { error?: string; error_type?: string } {
  return {
    ...(error !== undefined && { error: trace === undefined ? error : `${error}\n${trace}` }),
    ...(errorType !== undefined && { error_type: errorType }),
  };
}

/** One value of a metric series; a value that JSON lacks is null. */
export function metricPoint(nodeId: string, name: string, value: number, step: number): MetricPoint {
  return { name, value: Number.isFinite(value) ? value : null, step, node_id: nodeId };
}

export function artifactPayload(
  nodeId: string,
  kind: string,
  path: string,
  meta: Readonly<Record<string, unknown>>,
): ArtifactPayload {
  return { kind, path, meta, node_id: nodeId };
}
