import type { NodeStatus, OutputEntry, PortFacts } from '@cdui/protocol';

/** What an engine says of a node: the same members as its own report, so that this side needs no engine. */
export interface NodeReport {
  readonly origin: { readonly nodeId: string; readonly innerId: string | null };
  readonly status: NodeStatus;
  readonly error?: string;
  readonly errorType?: string;
  /** Stack, in debug mode only. */
  readonly trace?: string;
  readonly outputs?: readonly OutputEntry[];
  readonly ports?: readonly PortFacts[];
}
