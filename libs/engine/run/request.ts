import type { NodeRegistry, PresetRegistry } from '@cdui/node-sdk';
import type { PortFacts, RunFolders, RunOptions } from '@cdui/protocol';
import type { TensorRuntime } from '@cdui/tensor/runtime';
import type { EngineObserver } from '../observer';
import type { Plan } from '../plan-types';
import type { ExecutionCache } from './execution-cache';
import type { OutputRecorder } from './output-recorder';
import type { KeptModules } from './run-weights';

/** Everything one run is told. */
export interface RunPlanRequest {
  readonly runId: string;
  readonly plan: Plan;
  readonly registry: NodeRegistry;
  readonly presets: PresetRegistry;
  readonly runtime: TensorRuntime;
  readonly observer: EngineObserver;
  readonly options: RunOptions;
  readonly folders: RunFolders;
  /** Aborted with a `StopReason` as its reason. */
  readonly signal: AbortSignal;
  /** Polled by loops besides the signal: a thread that never yields sees only shared memory. Null while nobody asked to stop. */
  readonly stopRequested?: () => string | null;
  /** Whether the graph runs as a function: it writes no artifacts, and an output without a JSON form fails it. */
  readonly asFunction?: boolean;
  /** Results of earlier runs of a canvas session. */
  readonly cache?: ExecutionCache;
  /** Modules of earlier runs of a canvas session, where weights persist. */
  readonly modules?: KeptModules;
  /** Takes over what every port carried. */
  readonly recorder?: OutputRecorder;
  /** Nodes that may execute at once; default 4. A seeded run executes one at a time. */
  readonly maxParallel?: number;
  /** Whether error reports carry stacks. */
  readonly debug?: boolean;
  /** Waits between attempts; resolves early when the signal is aborted. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** How a run ended. */
export interface RunPlanResult {
  readonly status: 'succeeded' | 'failed' | 'cancelled' | 'interrupted';
  readonly error: string | null;
  readonly reason: { readonly code: string; readonly params: Readonly<Record<string, unknown>> } | null;
  /** File ids of nodes and containers in which something failed, and of those that only had to be skipped. */
  readonly failedNodes: readonly string[];
  readonly skippedNodes: readonly string[];
  /** JSON forms of GraphOutput values by name; null when the graph has none. */
  readonly graphOutputs: Readonly<Record<string, unknown>> | null;
  /** What the output ports of nodes carried whose outputs nobody read. Ids of the expanded graph. */
  readonly finalOutputs: readonly { readonly nodeId: string; readonly facts: PortFacts }[];
}

export const DEFAULT_MAX_PARALLEL = 4;
