import { catalogView, expandGraph, parseGraph, planGraph, validateGraph } from '@cdui/engine';
import type { GraphFile, GraphIssue } from '@cdui/protocol';
import type { CatalogueFolders } from './catalogue';
import { loadCatalogue } from './catalogue';

export interface CheckedGraph {
  /** Null when the text is no graph. */
  readonly graph: GraphFile | null;
  /** Nodes that the file has, notes left out, and nodes that a run would execute once blocks are opened. */
  readonly nodes: number;
  readonly edges: number;
  readonly planned: number;
  /** Why a run of the graph would not start; drafts do not count. */
  readonly issues: readonly GraphIssue[];
  readonly warnings: readonly GraphIssue[];
  /** Custom node files and presets that could not be used, in words. */
  readonly problems: readonly string[];
}

/** Reads a graph file's text and says whether it would run here. For whoever runs a graph without a server. */
export function checkGraph(text: string, folders: CatalogueFolders): CheckedGraph {
  const { graph, issues } = parseGraph(text);
  if (graph === null) return { graph, nodes: 0, edges: 0, planned: 0, issues, warnings: [], problems: [] };
  const { registry, presets, problems } = loadCatalogue(folders);
  const result = planGraph(graph, { registry, presets });
  const { warnings } = validateGraph(graph, catalogView(registry, presets));
  const nodes = graph.nodes.filter((node) => node.type !== 'note');
  return {
    graph,
    nodes: nodes.length,
    edges: graph.edges.length,
    planned: 'plan' in result ? result.plan.nodes.length : (expandGraph(graph, presets).graph?.nodes.length ?? 0),
    issues: 'issues' in result ? result.issues : [],
    warnings,
    problems,
  };
}
