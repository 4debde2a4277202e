import type { FlatEdge, FlatGraph } from './flat-graph';
import { indexNodes } from './flat-graph';

/**
 * Ids of the nodes that a run executes: what the entry points reach over data edges, with the sources of their triggers; whole
 * preset instances; and, to a fixpoint, whatever feeds a node of the set, with its outermost container. Empty when no trigger
 * enters a node. `alsoReached` are nodes that the entry points reach by ways that the graph no longer has.
 */
export function executableSet(graph: FlatGraph, alsoReached: readonly string[] = []): ReadonlySet<string> {
  const nodes = indexNodes(graph.nodes);
  const outgoing = group(graph.data, (edge) => edge.source);
  const inPreset = new Map<string, string[]>();
  const inContainer = new Map<string, string[]>();
  for (const node of nodes.values()) {
    if (node.preset !== null) push(inPreset, node.preset, node.id);
    if (node.origin.innerId !== null) push(inContainer, node.origin.nodeId, node.id);
  }

  const set = new Set<string>();
  const reach = (id: string, queue: string[]): void => {
    if (!nodes.has(id) || set.has(id)) return;
    set.add(id);
    queue.push(id);
  };
  const forward: string[] = [];
  for (const trigger of graph.triggers) reach(trigger.target, forward);
  for (const id of alsoReached) reach(id, forward);
  for (let id = forward.pop(); id !== undefined; id = forward.pop()) {
    for (const edge of outgoing.get(id) ?? []) reach(edge.target, forward);
  }

  const rescue = [...set];
  for (const trigger of graph.triggers) if (set.has(trigger.target)) reach(trigger.source, rescue);
  if (set.size === nodes.size) return set;
  const incoming = group(graph.data, (edge) => edge.target);
  for (let id = rescue.pop(); id !== undefined; id = rescue.pop()) {
    const preset = nodes.get(id)?.preset;
    if (preset) takeGroup(inPreset, preset, (member) => reach(member, rescue));
    for (const edge of incoming.get(id) ?? []) {
      const producer = nodes.get(edge.source);
      if (!producer || set.has(producer.id)) continue;
      reach(producer.id, rescue);
      if (producer.origin.innerId !== null)
        takeGroup(inContainer, producer.origin.nodeId, (member) => reach(member, rescue));
    }
  }
  return set;
}

/** Ids of the nodes that entry points reach over data edges. */
export function reachedSet(graph: FlatGraph): ReadonlySet<string> {
  const outgoing = group(graph.data, (edge) => edge.source);
  const set = new Set(graph.triggers.map((trigger) => trigger.target));
  const queue = [...set];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    for (const edge of outgoing.get(id) ?? []) {
      if (set.has(edge.target)) continue;
      set.add(edge.target);
      queue.push(edge.target);
    }
  }
  return set;
}

/** Visits a group's members once, however often the group is asked for. */
function takeGroup(groups: Map<string, string[]>, key: string, visit: (member: string) => void): void {
  const members = groups.get(key);
  groups.delete(key);
  members?.forEach(visit);
}

/** The part of a graph whose nodes are in the set. */
export function restrict(graph: FlatGraph, set: ReadonlySet<string>): FlatGraph {
  const nodes = graph.nodes.filter((node) => set.has(node.id));
  const data = graph.data.filter((edge) => set.has(edge.target));
  const triggers = graph.triggers.filter((edge) => set.has(edge.target));
  return {
    // A list that keeps all of its items stays the same one, so that what is known of it stays known.
    nodes: nodes.length === graph.nodes.length ? graph.nodes : nodes,
    data: data.length === graph.data.length ? graph.data : data,
    triggers: triggers.length === graph.triggers.length ? graph.triggers : triggers,
    fileIds: graph.fileIds,
  };
}

/** Adds to `wanted` everything that it depends on. */
export function withAncestors(graph: FlatGraph, wanted: readonly string[]): ReadonlySet<string> {
  const incoming = group(graph.data, (edge) => edge.target);
  const set = new Set(wanted);
  const queue = [...set];
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    for (const edge of incoming.get(id) ?? []) {
      if (set.has(edge.source)) continue;
      set.add(edge.source);
      queue.push(edge.source);
    }
  }
  return set;
}

function group(edges: readonly FlatEdge[], key: (edge: FlatEdge) => string): ReadonlyMap<string, FlatEdge[]> {
  const groups = new Map<string, FlatEdge[]>();
  for (const edge of edges) push(groups, key(edge), edge);
  return groups;
}

function push<T>(groups: Map<string, T[]>, key: string, item: T): void {
  const list = groups.get(key);
  if (list) list.push(item);
  else groups.set(key, [item]);
}
