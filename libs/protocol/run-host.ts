import type { GraphFile } from './graph';
import type { ArtifactPayload, InnerNodeStatusPayload, MetricPoint, NodeStatusPayload, WarningPayload } from './events';
import type { RunFolders, RunOptions, StopReason } from './run-options';

/** How a run ended, as the host saw it. */
export interface RunOutcome {
  readonly status: 'succeeded' | 'failed' | 'cancelled' | 'interrupted';
  readonly error: string | null;
  readonly reason: { readonly code: string; readonly params: Readonly<Record<string, unknown>> } | null;
  /** Ids of nodes that failed or were skipped (`error_mode` continue and retry). */
  readonly failed_nodes: readonly string[];
  readonly skipped_nodes: readonly string[];
  readonly peak_memory: readonly { readonly device: string; readonly bytes: number; readonly exact: boolean }[];
  /** Values of GraphOutput nodes, JSON-encoded; absent when the graph has none. */
  readonly graph_outputs?: Readonly<Record<string, unknown>>;
  /** Summaries of every output port of leaf nodes, `node.port` -> summary, for a terminal. */
  readonly final_outputs?: readonly {
    readonly node_id: string;
    readonly port: string;
    readonly summary: Readonly<Record<string, unknown>>;
  }[];
  readonly seconds: number;
}

/** Commands to a run host. One host executes one run at a time. */
export type RunHostCommand =
  | {
      readonly type: 'start';
      readonly run_id: string;
      readonly graph: GraphFile;
      readonly options: RunOptions;
      readonly folders: RunFolders;
      /** GraphInput values of a graph run as a function. */
      readonly inputs?: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'cancel'; readonly run_id: string; readonly reason: StopReason }
  | { readonly type: 'clear_cache' }
  /** Drops modules that a session keeps for a graph, or for some of its nodes. Answered by `weights_reset`, at once. */
  | {
      readonly type: 'reset_weights';
      readonly request_id: number;
      readonly graph_id: string;
      readonly node_ids?: readonly string[];
    }
  /** Answered by `weights`. */
  | { readonly type: 'list_weights'; readonly request_id: number }
  | { readonly type: 'resume' }
  | { readonly type: 'close' };

/** A module that a canvas session keeps from run to run. */
export interface KeptWeights {
  readonly graph_id: string;
  /** Id in the expanded graph. */
  readonly node_id: string;
}

/** What a run host says when it was asked; no part of any run. */
export type RunHostAnswer =
  | { readonly type: 'weights_reset'; readonly request_id: number; readonly evicted: number }
  | { readonly type: 'weights'; readonly request_id: number; readonly weights: readonly KeptWeights[] };

/** Messages from a run host. The per-run ones are the worker frames without `seq`. `at_ms` counts from the run's start. */
export type RunHostMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'run_started'; readonly run_id: string }
  | {
      readonly type: 'event';
      readonly run_id: string;
      readonly at_ms: number;
      readonly event:
        | { readonly type: 'node_status'; readonly payload: NodeStatusPayload }
        | { readonly type: 'inner_node_status'; readonly payload: InnerNodeStatusPayload };
    }
  | {
      readonly type: 'metrics';
      readonly run_id: string;
      readonly at_ms: number;
      readonly points: readonly MetricPoint[];
    }
  | { readonly type: 'artifact'; readonly run_id: string; readonly at_ms: number; readonly artifact: ArtifactPayload }
  | { readonly type: 'warning'; readonly run_id: string; readonly at_ms: number; readonly warning: WarningPayload }
  | { readonly type: 'console'; readonly run_id: string; readonly text: string }
  | { readonly type: 'run_facts'; readonly run_id: string; readonly facts: Readonly<Record<string, unknown>> }
  | { readonly type: 'run_finished'; readonly run_id: string; readonly outcome: RunOutcome };
