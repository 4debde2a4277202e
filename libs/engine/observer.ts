import type { NodeStatus, OutputEntry, PortFacts, WarningPayload } from '@cdui/protocol';

/** Where a report comes from: the node as it stands in the file, and the inner node when it lies in a container. */
export interface NodeOrigin {
  /** The id in the file: the node's own, or the outermost preset or subgraph instance. */
  readonly nodeId: string;
  /** Path inside the container; null for a top-level node. */
  readonly innerId: string | null;
}

export interface StatusReport {
  readonly origin: NodeOrigin;
  readonly status: NodeStatus;
  readonly error?: string;
  /** `out_of_memory`, or the error's code or class. */
  readonly errorType?: string;
  /** Stack, in debug mode only. */
  readonly trace?: string;
  /** What the node shows besides its ports: text, images, charts, progress. */
  readonly outputs?: readonly OutputEntry[];
  /** What its output ports carry. */
  readonly ports?: readonly PortFacts[];
}

/**
 * What the engine tells whoever runs it. All calls are synchronous and return whether reports are below the high-water
 * mark; the engine awaits `drained()` at node and batch boundaries when one was not.
 */
export interface EngineObserver {
  status(report: StatusReport): boolean;
  metric(origin: NodeOrigin, name: string, value: number, step: number): boolean;
  artifact(origin: NodeOrigin, kind: string, path: string, meta: Readonly<Record<string, unknown>>): boolean;
  warning(warning: WarningPayload): boolean;
  /** Text for the run's console. */
  console(text: string): boolean;
  drained(): Promise<void>;
}
