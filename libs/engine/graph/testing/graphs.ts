import type { GraphFile, GraphNode, PresetDefinition, SubgraphDefinition } from '@cdui/protocol';

/** A node as a file has it. `more` goes into `data`. */
export function node(
  id: string,
  type: string,
  params: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
): GraphNode {
  return { id, type, data: { params, ...more } };
}

/** Edges from texts: `a.out -> b.in` carries data, `start => a` triggers. Ids are `e0`, `e1`, ... */
export function edges(texts: readonly string[]): GraphFile['edges'] {
  return texts.map((text, index) => {
    const id = `e${index}`;
    const [left = '', right = ''] = text.split(/ [-=]> /);
    if (text.includes(' => ')) return { id, source: left, sourceHandle: 'trigger', target: right, type: 'trigger' };
    const [source = '', sourceHandle = ''] = left.split('.');
    const [target = '', targetHandle = ''] = right.split('.');
    return { id, source, sourceHandle, target, targetHandle };
  });
}

export function graph(nodes: readonly GraphNode[], lines: readonly string[], rest: Partial<GraphFile> = {}): GraphFile {
  return { nodes, edges: edges(lines), ...rest };
}

/** A preset whose ports are given as `name: inner.port`. */
export function preset(
  name: string,
  nodes: readonly { readonly id: string; readonly type: string; readonly params?: Record<string, unknown> }[],
  lines: readonly string[],
  ports: { readonly inputs?: readonly string[]; readonly outputs?: readonly string[] } = {},
): PresetDefinition {
  const port = (text: string) => {
    const [outer = '', inner = ''] = text.split(': ');
    const [internal_node = '', internal_port = ''] = inner.split('.');
    return { name: outer, internal_node, internal_port };
  };
  return {
    preset_name: name,
    nodes,
    edges: edges(lines).map(({ source, sourceHandle, target, targetHandle }) => ({
      source,
      sourceHandle: sourceHandle ?? '',
      target,
      targetHandle: targetHandle ?? '',
    })),
    exposed_inputs: (ports.inputs ?? []).map(port),
    exposed_outputs: (ports.outputs ?? []).map(port),
    exposed_params: [],
  };
}

/** A subgraph whose ports are given as `name: inner.port`. */
export function subgraph(
  id: string,
  nodes: readonly GraphNode[],
  lines: readonly string[],
  ports: {
    readonly inputs?: readonly string[];
    readonly outputs?: readonly string[];
    readonly triggers?: readonly string[];
  } = {},
): SubgraphDefinition {
  const port = (text: string) => {
    const [outer = '', inner = ''] = text.split(': ');
    const [innerNode = '', innerPort = ''] = inner.split('.');
    return { port: outer, innerNode, innerPort };
  };
  return {
    id,
    nodes,
    edges: edges(lines),
    interface: {
      inputs: (ports.inputs ?? []).map(port),
      outputs: (ports.outputs ?? []).map(port),
      triggerTargets: ports.triggers ?? [],
    },
  };
}
