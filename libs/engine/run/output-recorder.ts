import type { PortValue } from '@cdui/node-sdk';
import type { PortFacts } from '@cdui/protocol';
import type { Scope } from '@cdui/tensor/runtime';

/** One port of a node as somebody may record it. */
export interface CapturedPort {
  /** Secrets are taken out. */
  readonly facts: PortFacts;
  /** What the facts describe, as it is; absent for an overview of steps. */
  readonly value: PortValue | undefined;
}

/** Takes over what the ports of a run's nodes carried: their outputs, the tensors of recorded steps, gradients. */
export interface OutputRecorder {
  /**
   * Called while the scope that holds the values is open; handles that are wanted longer must be kept. Never throws: what cannot be recorded is no
   * failure of the node.
   *
   * @param nodeId of the expanded graph
   */
  record(nodeId: string, ports: readonly CapturedPort[], scope: Scope): void | Promise<void>;
}
