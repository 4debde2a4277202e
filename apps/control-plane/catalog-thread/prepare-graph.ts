import { catalogView, parseGraph, planGraph, presetSecrets, Redactor, runIssues, scrubSecrets } from '@cdui/engine';
import type { NodeRegistry, PresetRegistry } from '@cdui/node-sdk';
import { provenanceOf } from '@cdui/nodes';
import type { GraphFile } from '@cdui/protocol';
import type { PreparedAnswer, WantedAnswers } from './messages';

/** The node types and presets of one moment. */
export interface Types {
  readonly registry: NodeRegistry;
  readonly presets: PresetRegistry;
  /** Type -> sha256 of its definition. */
  readonly hashes: Readonly<Record<string, string>>;
  readonly customNodesDir: string;
}

/** Says whether a run of the graph, parsed or as text, could start, and what of it may be stored. Drafts do not count. */
export function prepareGraph(json: unknown, types: Types, wanted: WantedAnswers): PreparedAnswer {
  const { registry, presets } = types;
  const { graph, issues } = parseGraph(json);
  if (graph === null) return { issues, scrubbed: null, provenance: null, nodeTypes: null };
  const catalog = catalogView(registry, presets);
  const scrubbed = scrubSecrets(graph, catalog);
  const problems = runIssues(graph, { registry, presets });
  if (problems.length > 0) {
    const inFile = scrubbed.secrets.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
    const redactor = new Redactor([...inFile, ...presetSecrets(presets, catalog)]);
    return { issues: redactor.data(problems), scrubbed: null, provenance: null, nodeTypes: null };
  }
  return {
    issues: [],
    scrubbed: scrubbed.secrets.length > 0 ? JSON.stringify(scrubbed.graph) : null,
    provenance: wanted.provenance
      ? provenanceOf(plannedNodes(graph, types), registry, types.hashes, types.customNodesDir)
      : null,
    nodeTypes: wanted.nodeTypes ? [...new Set(plannedNodes(graph, types).map(({ type }) => type))] : null,
  };
}

function plannedNodes(graph: GraphFile, types: Types): readonly { readonly id: string; readonly type: string }[] {
  const planned = planGraph(graph, types);
  return 'plan' in planned ? planned.plan.nodes : [];
}
