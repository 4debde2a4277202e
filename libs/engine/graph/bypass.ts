import type { PortDefinition } from '@cdui/protocol';
import { portsCompatible } from '@cdui/protocol';
import type { FlatEdge, FlatGraph, FlatNode } from './flat-graph';
import { describe, indexNodes, whereabouts } from './flat-graph';
import { reachedSet } from './executable-set';
import { Issues } from './issues';
import { listNames } from './json';
import type { NodeTypes } from './node-types';
import { inputKey } from './wiring';

export interface Bypassed {
  readonly graph: FlatGraph;
  readonly issues: Issues;
  /** Inputs (`inputKey`) that lost their edge, and the bypassed node whose own input is not connected. */
  readonly lost: ReadonlyMap<string, FlatNode>;
  /** Nodes that entry points reached only through an edge that is gone: they still run, and say what they lack. */
  readonly cutOff: readonly string[];
}

const FIXED_TYPES = new Set(['GraphInput', 'GraphOutput']);

/**
 * Takes bypassed nodes out: each of their output ports passes on the first declared input of a compatible type, chains
 * collapse, triggers move on to the first nodes downstream that stay. Unknown types and nodes that cannot be bypassed stay in place.
 */
export function removeBypassed(graph: FlatGraph, types: NodeTypes): Bypassed {
  const issues = new Issues();
  const removed = new Map<string, FlatNode>();
  for (const node of indexNodes(graph.nodes).values()) {
    if (!node.bypassed || node.broken) continue;
    const typed = types.of(node);
    if (FIXED_TYPES.has(typed?.definition.node_name ?? node.type)) {
      issues.add(
        'bypass_not_allowed',
        node.origin.nodeId,
        `${describe(node)} is part of the graph's interface and cannot be bypassed: remove the bypass`,
        whereabouts(node),
      );
    } else if (typed) {
      removed.set(node.id, node);
    }
  }
  if (removed.size === 0) return { graph, issues, lost: new Map(), cutOff: [] };
  const forward = new Forwarding(graph, types, removed, issues);
  const data: FlatEdge[] = [];
  const lost = new Map<string, FlatNode>();
  const cut = new Set<string>();
  for (const edge of graph.data) {
    if (removed.has(edge.target)) continue;
    const bypassed = removed.get(edge.source);
    const source = bypassed ? forward.source(edge) : edge;
    if (source) data.push({ ...edge, source: source.source, sourcePort: source.sourcePort });
    else if (bypassed) {
      lost.set(inputKey(edge.target, edge.targetPort), forward.beginning(edge) ?? bypassed);
      cut.add(edge.target);
    }
  }
  return {
    graph: {
      nodes: graph.nodes.filter((node) => removed.get(node.id) !== node),
      data,
      triggers: moveTriggers(graph, removed),
      fileIds: graph.fileIds,
    },
    issues,
    lost,
    cutOff: cut.size === 0 ? [] : [...reachedSet(graph)].filter((id) => cut.has(id)),
  };
}

type Source = Pick<FlatEdge, 'source' | 'sourcePort'>;

/** Finds where the value at a bypassed node's output really comes from. */
class Forwarding {
  private readonly incoming = new Map<string, FlatEdge>();
  private readonly known = new Map<string, Source | null>();
  /** Outputs that nothing comes out of: the node at the chain's beginning. */
  private readonly beginnings = new Map<string, FlatNode>();

  constructor(
    graph: FlatGraph,
    private readonly types: NodeTypes,
    private readonly removed: ReadonlyMap<string, FlatNode>,
    private readonly issues: Issues,
  ) {
    for (const edge of graph.data) {
      if (removed.has(edge.target)) this.incoming.set(inputKey(edge.target, edge.targetPort), edge);
    }
  }

  /** The source that stays, or null when nothing is connected at the chain's beginning (or the chain is a ring). */
  source(edge: Source): Source | null {
    const passed: string[] = [];
    const seen = new Set<string>();
    let at: Source | null = edge;
    let beginning: FlatNode | undefined;
    while (at && this.removed.has(at.source)) {
      const key: string = inputKey(at.source, at.sourcePort);
      const known = this.known.get(key);
      if (known !== undefined || seen.has(key)) {
        at = known ?? null;
        beginning = this.beginnings.get(key) ?? beginning;
        break;
      }
      seen.add(key);
      passed.push(key);
      beginning = this.removed.get(at.source);
      at = this.step(at);
    }
    for (const key of passed) {
      this.known.set(key, at);
      if (at === null && beginning) this.beginnings.set(key, beginning);
    }
    return at;
  }

  /** The node at which the chain behind an edge without a source begins. */
  beginning(edge: Source): FlatNode | undefined {
    return this.beginnings.get(inputKey(edge.source, edge.sourcePort));
  }

  private step(at: Source): Source | null {
    const node = this.removed.get(at.source) as FlatNode;
    const typed = this.types.of(node);
    const output = typed?.outputs.find((port) => port.name === at.sourcePort);
    if (!typed || !output) {
      const outputs = listNames((typed?.outputs ?? []).map((port) => port.name));
      this.issues.add(
        'unknown_output_port',
        node.origin.nodeId,
        `${describe(node)} has no output "${at.sourcePort}"; its outputs are ${outputs}`,
        { ...whereabouts(node), port: at.sourcePort },
      );
      return null;
    }
    const input = typed.inputs.find((port: PortDefinition) => portsCompatible(port.data_type, output.data_type));
    if (!input) {
      this.issues.add(
        'bypass_no_match',
        node.origin.nodeId,
        `${describe(node)} cannot be bypassed: none of its inputs has a type that its output "${output.name}" (${output.data_type}) can pass on`,
        { ...whereabouts(node), port: output.name, data_type: output.data_type },
      );
      return null;
    }
    return this.incoming.get(inputKey(node.id, input.name)) ?? null;
  }
}

/** Moves triggers of removed nodes to the first nodes downstream that stay, in time linear in the edges. */
function moveTriggers(graph: FlatGraph, removed: ReadonlyMap<string, FlatNode>): readonly FlatEdge[] {
  const outgoing = new Map<string, FlatEdge[]>();
  for (const edge of graph.data) {
    if (!removed.has(edge.source)) continue;
    const list = outgoing.get(edge.source);
    if (list) list.push(edge);
    else outgoing.set(edge.source, [edge]);
  }
  const moved: FlatEdge[] = [];
  const visited = new Set<string>();
  // A second trigger of a visited node reaches the same nodes; one edge to any of them keeps its source in the run.
  const firstTarget = new Map<string, string>();
  for (const trigger of graph.triggers) {
    if (!removed.has(trigger.target)) {
      moved.push(trigger);
      continue;
    }
    const reached = new Set<string>();
    const stack = [trigger.target];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (visited.has(at)) {
        const earlier = firstTarget.get(at);
        if (earlier !== undefined) reached.add(earlier);
        continue;
      }
      visited.add(at);
      for (const edge of outgoing.get(at) ?? []) {
        if (removed.has(edge.target)) stack.push(edge.target);
        else reached.add(edge.target);
        if (!firstTarget.has(at) && !removed.has(edge.target)) firstTarget.set(at, edge.target);
      }
    }
    const [first] = reached;
    if (first !== undefined && !firstTarget.has(trigger.target)) firstTarget.set(trigger.target, first);
    [...reached].forEach((target, index) => moved.push({ ...trigger, id: `${trigger.id}#${index}`, target }));
  }
  return moved;
}
