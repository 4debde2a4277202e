import { planGraph } from '@cdui/engine';
import type { ProvenanceRecord } from '@cdui/nodes';
import { catalogueOf, provenanceOf } from '@cdui/nodes';
import type { GraphFile } from '@cdui/protocol';
import type { Catalogue } from './catalogue';

/** Where the code of each node comes from that a run of the graph executes; none when it cannot run. */
export function graphProvenance(
  graph: GraphFile,
  { registry, presets }: Catalogue,
  customNodesDir: string | null,
): readonly ProvenanceRecord[] {
  const planned = planGraph(graph, { registry, presets });
  if (!('plan' in planned)) return [];
  return provenanceOf(planned.plan.nodes, registry, catalogueOf(registry).nodeTypeHashes, customNodesDir);
}
