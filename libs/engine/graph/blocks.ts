import type { GraphEdge, GraphFile, GraphNode, Params, PresetDefinition, SubgraphDefinition } from '@cdui/protocol';
import type { JsonObject } from './json';
import { isObject, own } from './json';
import { NOTE } from './shape';

/** A node of a file, a subgraph or a preset, in one form. */
export interface BlockNode {
  readonly id: string;
  readonly type: string;
  readonly params: Params;
  readonly internalParams: JsonObject | null;
  readonly bypassed: boolean;
}

export interface BlockEdge {
  readonly id: string;
  readonly source: string;
  readonly sourcePort: string;
  readonly target: string;
  readonly targetPort: string;
  readonly trigger: boolean;
}

/** Nodes and edges that belong together, without notes, with the ports by which an instance is connected. */
export interface Block {
  readonly nodes: readonly BlockNode[];
  readonly edges: readonly BlockEdge[];
  readonly inputs: ReadonlyMap<string, { readonly node: string; readonly port: string }>;
  readonly outputs: ReadonlyMap<string, { readonly node: string; readonly port: string }>;
  /** Inner nodes that a trigger into an instance reaches. */
  readonly triggers: readonly string[];
}

export type SubgraphBlock = Block;

const NO_PORTS: Block['inputs'] = new Map();

export function blockOfFile(file: GraphFile): Block {
  return { ...members(file.nodes, file.edges), inputs: NO_PORTS, outputs: NO_PORTS, triggers: [] };
}

export function blockOfSubgraph(subgraph: SubgraphDefinition): Block {
  const block = members(subgraph.nodes, subgraph.edges ?? []);
  const { inputs, outputs, triggerTargets } = subgraph.interface ?? {};
  const port = (item: { port: string; innerNode: string; innerPort: string }) =>
    [item.port, { node: item.innerNode, port: item.innerPort }] as const;
  return {
    ...block,
    inputs: new Map((inputs ?? []).map(port)),
    outputs: new Map((outputs ?? []).map(port)),
    triggers: triggerTargets && triggerTargets.length > 0 ? [...new Set(triggerTargets)] : roots(block),
  };
}

export function blockOfPreset(preset: PresetDefinition): Block {
  const nodes = preset.nodes.map((node) => {
    const { params, internalParams } = node as JsonObject;
    // Preset files keep params beside the type, graph files below `data`; a preset cut out of a graph may have either.
    return {
      ...node,
      data: {
        ...(isObject(own(node, 'data')) && (own(node, 'data') as object)),
        ...(isObject(params) && { params }),
        ...(isObject(internalParams) && { internalParams }),
      },
    } as GraphNode;
  });
  const block = members(nodes, preset.edges ?? []);
  const port = (item: { name: string; internal_node: string; internal_port: string }) =>
    [item.name, { node: item.internal_node, port: item.internal_port }] as const;
  return {
    ...block,
    inputs: new Map((preset.exposed_inputs ?? []).map(port)),
    outputs: new Map((preset.exposed_outputs ?? []).map(port)),
    triggers: roots(block),
  };
}

function members(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Pick<Block, 'nodes' | 'edges'> {
  const real = nodes.filter((node) => node.type !== NOTE);
  // Edges get the very texts of their nodes: looking up a text that is the same one needs no comparison, and ids are looked up often.
  const ids = new Map(real.map(({ id }) => [id, id]));
  const notes = new Set(
    real.length === nodes.length ? [] : nodes.flatMap(({ id, type }) => (type === NOTE && !ids.has(id) ? [id] : [])),
  );
  return {
    nodes: real.map((node) => ({
      id: node.id,
      type: node.type,
      params: node.data?.params ?? {},
      internalParams: node.data?.internalParams ?? null,
      bypassed: node.data?.bypassed === true,
    })),
    edges: edges
      .map((edge, index) => edgeOf(edge, index, ids))
      .filter(({ source, target }) => notes.size === 0 || !(notes.has(source) || notes.has(target))),
  };
}

function edgeOf(edge: GraphEdge, index: number, ids: ReadonlyMap<string, string>): BlockEdge {
  return {
    id: edge.id ?? `edge ${index}`,
    source: ids.get(edge.source) ?? edge.source,
    sourcePort: edge.sourceHandle ?? '',
    target: ids.get(edge.target) ?? edge.target,
    targetPort: edge.targetHandle ?? '',
    trigger: edge.type === 'trigger',
  };
}

/** Nodes that no data edge enters. */
function roots({ nodes, edges }: Pick<Block, 'nodes' | 'edges'>): readonly string[] {
  const fed = new Set(edges.filter((edge) => !edge.trigger).map((edge) => edge.target));
  return nodes.filter((node) => !fed.has(node.id)).map((node) => node.id);
}
