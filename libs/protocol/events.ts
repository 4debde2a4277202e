/** Statuses of a node (and of a container: a preset or subgraph instance). */
export type NodeStatus = 'running' | 'completed' | 'cached' | 'skipped' | 'error' | 'progress' | 'interrupted';

/** One thing a node shows. The payload key is named like the kind; `port` is set for per-port kinds. */
export type OutputEntry =
  | { readonly output_kind: 'text'; readonly text: string; readonly port?: string }
  | {
      readonly output_kind: 'image';
      readonly image: { readonly format: 'png'; readonly encoding: 'base64'; readonly data: string };
      readonly port?: string;
    }
  | { readonly output_kind: 'chart'; readonly chart: Readonly<Record<string, unknown>>; readonly port?: string }
  | { readonly output_kind: 'video'; readonly video: Readonly<Record<string, unknown>>; readonly port?: string }
  | { readonly output_kind: 'progress'; readonly progress: Readonly<Record<string, unknown>>; readonly port?: string }
  | {
      readonly output_kind: 'tensor_summary';
      readonly tensor_summary: Readonly<Record<string, unknown>>;
      readonly port?: string;
    };

/** What stands in an entry's place when the payload would be too large: which entry it was, and how large. */
export interface ElidedOutput {
  readonly output_kind: OutputEntry['output_kind'];
  readonly elided: true;
  readonly bytes: number;
  readonly cap_bytes: number;
  readonly port?: string;
}

/** Whether an entry's content was left out; readers of stored events ask before they look at it. */
export function isElided(entry: OutputEntry | ElidedOutput): entry is ElidedOutput {
  return 'elided' in entry && entry.elided === true;
}

export interface NodeStatusPayload {
  readonly node_id: string;
  readonly status: NodeStatus;
  readonly error?: string;
  readonly error_type?: string;
  readonly outputs?: readonly OutputEntry[];
}

/** A node inside a preset or subgraph instance; `node_id` is the outermost container. */
export interface InnerNodeStatusPayload {
  readonly node_id: string;
  readonly inner_id: string;
  readonly status: NodeStatus;
  readonly error?: string;
  readonly error_type?: string;
}

export interface MetricPoint {
  readonly name: string;
  /** Null when the value is not finite. */
  readonly value: number | null;
  readonly step: number;
  readonly node_id: string;
}

export interface ArtifactPayload {
  readonly kind: string;
  readonly path: string;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly node_id: string;
}

export interface WarningPayload {
  readonly kind: string;
  readonly detail: string;
  readonly count?: number;
  readonly code?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** What a run reports below the run level; the run's own start and end events belong to whoever owns the run. */
export type RunEvent =
  | { readonly type: 'node_status'; readonly payload: NodeStatusPayload }
  | { readonly type: 'inner_node_status'; readonly payload: InnerNodeStatusPayload }
  | { readonly type: 'metric'; readonly payload: { readonly points: readonly MetricPoint[] } }
  | { readonly type: 'artifact'; readonly payload: ArtifactPayload & { readonly artifact_id?: string } }
  | { readonly type: 'run_warning'; readonly payload: WarningPayload };
