import { catalogView, expandGraph, parseGraph, planGraph, validateGraph } from '@cdui/engine';
import { builtinNodes, builtinPresets, createPresetRegistry, CustomNodeFolder, loadPresetFolder } from '@cdui/nodes';
import type { GraphFile, GraphIssue } from '@cdui/protocol';

/** Where types and presets besides the built-in ones come from. */
export interface CatalogueFolders {
  readonly customNodes: string | null;
  readonly presets: string | null;
}

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
  const { registry, problems } = new CustomNodeFolder({
    folder: folders.customNodes,
    builtins: builtinNodes,
  }).snapshot();
  const said = problems.map(({ file, message }) => `Custom node file ${file}: ${message}`);
  const own = folders.presets === null ? [] : loadPresetFolder(folders.presets, (words) => said.push(words));
  // Of the built-in presets those whose nodes are not available yet are left out without a word: it is nobody's mistake.
  const builtins = builtinPresets.filter((preset) => preset.nodes.every((node) => registry.get(node.type)));
  const presets = createPresetRegistry([...builtins, ...own], registry, (words) => said.push(words));
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
    problems: said,
  };
}
