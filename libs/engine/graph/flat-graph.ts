import type { Params } from '@cdui/protocol';
import type { NodeOrigin } from '../observer';

/** A node after subgraphs and presets are opened. */
export interface FlatNode {
  readonly id: string;
  readonly type: string;
  readonly params: Params;
  readonly bypassed: boolean;
  readonly origin: NodeOrigin;
  /** The outermost preset instance that holds it, as an id of the flat graph; null outside of presets. */
  readonly preset: string | null;
  /** Whether it is an instance whose definition could not be opened: an issue says so, and nothing more is said about it. */
  readonly broken: boolean;
}

export interface FlatEdge {
  readonly id: string;
  readonly source: string;
  readonly sourcePort: string;
  readonly target: string;
  readonly targetPort: string;
}

/** What a graph file comes to: nodes in file order (inner ones at the place of their instance), edges in file order. */
export interface FlatGraph {
  readonly nodes: readonly FlatNode[];
  readonly data: readonly FlatEdge[];
  readonly triggers: readonly FlatEdge[];
  /** Ids of the file's own nodes, notes left out. */
  readonly fileIds: readonly string[];
}

/** A node in words: `node "conv" (Conv2d)`. */
export function describe(node: FlatNode): string {
  return `Node "${node.id}" (${node.type})`;
}

/** Params by which an issue names a node of the flat graph. */
export function whereabouts(node: FlatNode): Readonly<Record<string, unknown>> {
  return { node: node.id, type: node.type, ...(node.origin.innerId !== null && { inner_id: node.origin.innerId }) };
}

/** Lists of nodes do not change once they are made, and several steps look into the same one. */
const indexes = new WeakMap<readonly FlatNode[], ReadonlyMap<string, FlatNode>>();

/** Nodes by id; of several with one id the first. */
export function indexNodes(nodes: readonly FlatNode[]): ReadonlyMap<string, FlatNode> {
  const known = indexes.get(nodes);
  if (known !== undefined) return known;
  const byId = new Map<string, FlatNode>();
  for (const node of nodes) if (!byId.has(node.id)) byId.set(node.id, node);
  indexes.set(nodes, byId);
  return byId;
}
