import { reachedSet } from './executable-set';
import type { FlatEdge, FlatGraph } from './flat-graph';
import { describe, indexNodes, whereabouts } from './flat-graph';
import { Issues } from './issues';

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
  const winners = new Map<string, FlatEdge>();
  for (const edge of graph.data) winners.set(inputKey(edge.target, edge.targetPort), edge);
  if (winners.size === graph.data.length) return { graph, warnings, reached: [] };
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
