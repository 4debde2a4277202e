import type { GraphFile, GraphIssue, GraphNode } from '@cdui/protocol';
import type { PresetSource } from './flatten';
import { flatten } from './flatten';
import { shapeIssues } from './shape';

export interface ExpandedGraph {
  /** The graph without subgraph and preset instances; those that could not be opened stay. Null when the structure is wrong. */
  readonly graph: GraphFile | null;
  readonly issues: readonly GraphIssue[];
}

/** Opens subgraphs and presets and drops notes: the file's other keys stay, the definitions are gone. Bypass is kept as a mark. */
export function expandGraph(graph: GraphFile, presets: PresetSource): ExpandedGraph {
  const shape = shapeIssues(graph);
  if (shape.length > 0) return { graph: null, issues: shape };
  const { graph: flat, issues } = flatten(graph, presets);
  const nodes = flat.nodes.map((node): GraphNode => ({
    id: node.id,
    type: node.type,
    data: { params: node.params, ...(node.bypassed && { bypassed: true }) },
  }));
  const edges = [...flat.data, ...flat.triggers].map(({ id, source, sourcePort, target, targetPort }, index) => ({
    id,
    source,
    sourceHandle: sourcePort,
    target,
    targetHandle: targetPort,
    ...(index >= flat.data.length && { type: 'trigger' }),
  }));
  const { presets: _presets, subgraphs: _subgraphs, ...rest } = graph;
  return { graph: { ...rest, nodes, edges }, issues };
}
