import type { Params } from '@cdui/protocol';
import type { NodeOrigin } from './observer';

/** One node that will execute, after subgraphs, presets and bypass are gone. */
export interface PlannedNode {
  /** Unique in the expanded graph: `inst/inner` for subgraphs, `inst__inner` for presets. */
  readonly id: string;
  readonly type: string;
  readonly params: Params;
  readonly origin: NodeOrigin;
  /** Input port -> where its value comes from. */
  readonly inputs: Readonly<Record<string, { readonly node: string; readonly port: string }>>;
}

/** An executable graph: acyclic, every type known, every required input wired, in topological order (ties by file order). */
export interface Plan {
  readonly nodes: readonly PlannedNode[];
  /** Ids of file nodes that will not run. */
  readonly drafts: readonly string[];
  /** Containers by file id: their planned inner nodes. */
  readonly containers: Readonly<Record<string, readonly string[]>>;
}
