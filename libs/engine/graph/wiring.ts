import { reachedSet } from './executable-set';
import type { FlatEdge, FlatGraph } from './flat-graph';
import { describe, indexNodes, whereabouts } from './flat-graph';
import { Issues } from './issues';

/** Ports of nodes. Mostly there is one for a node, which costs no set of its own. */
export class PortSet {
  private readonly first = new Map<string, string>();
  private readonly more = new Map<string, Set<string>>();

  /** @returns whether it is new */
  add(node: string, port: string): boolean {
    const first = this.first.get(node);
    if (first === undefined) {
      this.first.set(node, port);
      return true;
    }
    if (first === port) return false;
    const more = this.more.get(node);
    if (more === undefined) this.more.set(node, new Set([port]));
    else if (more.has(port)) return false;
    else more.add(port);
    return true;
  }

  has(node: string, port: string): boolean {
    return this.first.get(node) === port || this.more.get(node)?.has(port) === true;
  }
}

/** One key for an input port of a node. */
export function inputKey(node: string, port: string): string {
  return `${node}\0${port}`;
}

export interface SingleWired {
  readonly graph: FlatGraph;
  readonly warnings: Issues;
  /** What entry points reach, edges that do not count included; empty when all count. */
  readonly reached: readonly string[];
}

/** Leaves one edge per input port: the last in file order. The others carry nothing any more, and get a warning each. */
export function lastEdgeWins(graph: FlatGraph): SingleWired {
  const warnings = new Issues();
  const wired = new PortSet();
  if (graph.data.every((edge) => wired.add(edge.target, edge.targetPort))) return { graph, warnings, reached: [] };
  const winners = new Map<string, FlatEdge>();
  for (const edge of graph.data) winners.set(inputKey(edge.target, edge.targetPort), edge);
  const nodes = indexNodes(graph.nodes);
  const data = graph.data.filter((edge) => {
    const winner = winners.get(inputKey(edge.target, edge.targetPort));
    if (winner === edge) return true;
    const node = nodes.get(edge.target);
    const name = node ? describe(node) : `Node "${edge.target}"`;
    warnings.add(
      'duplicate_input_edge',
      node?.origin.nodeId ?? null,
      `${name} has several edges into its input "${edge.targetPort}": the last one (from "${winner?.source}") counts, the one from "${edge.source}" is ignored; remove one of them`,
      { ...(node && whereabouts(node)), port: edge.targetPort, ignored: edge.id, used: winner?.id },
    );
    return false;
  });
  return { graph: { ...graph, data }, warnings, reached: [...reachedSet(graph)] };
}
