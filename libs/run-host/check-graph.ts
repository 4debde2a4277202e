import { readFileSync } from 'node:fs';
import { catalogView, expandGraph, giveInputs, parseGraph, planGraph, Redactor, validateGraph } from '@cdui/engine';
import type { GraphFile, GraphIssue } from '@cdui/protocol';
import type { CatalogueFolders } from './catalogue';
import { loadCatalogue } from './catalogue';
import { secretsIn } from './secrets';

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

const NO_INPUTS: ReadonlyMap<string, string> = new Map();

/**
 * Reads a graph file's text and says whether it would run here. For whoever runs a graph without a server.
 *
 * @param inputs values of GraphInput nodes by name, as text; an image is the path of a file
 */
export function checkGraph(text: string, folders: CatalogueFolders, inputs = NO_INPUTS): CheckedGraph {
  const { graph: file, issues } = parseGraph(text);
  if (file === null) return { graph: file, nodes: 0, edges: 0, planned: 0, issues, warnings: [], problems: [] };
  const { registry, presets, problems } = loadCatalogue(folders);
  const catalog = catalogView(registry, presets);
  const given = giveInputs(file, inputs, { catalog, presets, readImage });
  const { graph } = given;
  // A node type's own check may quote what it was given.
  const redactor = new Redactor(secretsIn(graph, { registry, presets }));
  const result = planGraph(graph, { registry, presets });
  const { warnings } = validateGraph(graph, catalog);
  const nodes = graph.nodes.filter((node) => node.type !== 'note');
  return {
    graph,
    nodes: nodes.length,
    edges: graph.edges.length,
    planned: 'plan' in result ? result.plan.nodes.length : (expandGraph(graph, presets).graph?.nodes.length ?? 0),
    issues: redactor.data([...given.issues, ...('issues' in result ? result.issues : [])]),
    warnings: redactor.data(warnings),
    problems,
  };
}

function readImage(path: string): { readonly value: string } | { readonly problem: string } {
  try {
    return { value: readFileSync(path).toString('base64') };
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return { problem: missing ? 'which is no file: name a PNG image' : `which cannot be read (${String(error)})` };
  }
}
