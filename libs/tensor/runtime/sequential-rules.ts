import { RuntimeError } from './errors';
import { show } from './fields';
import { LAYERS, layerDef, MERGE_NAMES } from './layers';
import { arityRange } from './ops';
import { nearMatches } from './near';

export type SequentialCode =
  | 'layers_not_json'
  | 'layers_bad_format'
  | 'layers_bad_version'
  | 'layers_bad_ports'
  | 'layers_duplicate_id'
  | 'layers_unknown_layer'
  | 'layers_unsupported_layer'
  | 'layers_bad_params'
  | 'layers_unknown_endpoint'
  | 'layers_bad_handle'
  | 'layers_wrong_inputs'
  | 'layers_unused_port'
  | 'layers_cycle';

/** One thing wrong with a `layers` string; `path` points into its JSON (`nodes[3].params`). */
export interface SequentialIssue {
  readonly code: SequentialCode;
  readonly message: string;
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface SequentialPort {
  readonly id: string;
  readonly name: string;
}
export interface SequentialNode {
  readonly id: string;
  readonly type: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Of Input and Output. */
  readonly ports: readonly SequentialPort[];
  readonly path: string;
}
export interface SequentialEdge {
  readonly source: string;
  readonly target: string;
  readonly sourceHandle: string | null;
  readonly targetHandle: string | null;
  readonly path: string;
}
export interface SequentialGraph {
  readonly nodes: readonly SequentialNode[];
  readonly edges: readonly SequentialEdge[];
}

export type Report = (code: SequentialCode, path: string, message: string, params?: Record<string, unknown>) => void;
type Json = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function readPorts(raw: unknown, type: string, path: string, report: Report): readonly SequentialPort[] {
  if (!Array.isArray(raw) || raw.length === 0) {
    report('layers_bad_ports', path, `${type} needs at least one port`, { type });
    return [];
  }
  const ports: SequentialPort[] = [];
  raw.forEach((port: unknown, at) => {
    const id = isRecord(port) ? text(port.id) : null;
    const name = isRecord(port) ? text(port.name) : null;
    if (id === null || name === null) {
      report('layers_bad_ports', `${path}[${at}]`, `port ${at} of ${type} needs an id and a name, got ${show(port)}`, {
        type,
      });
      return;
    }
    for (const [key, value] of [['id', id] as const, ['name', name] as const]) {
      if (ports.some((other) => other[key] === value)) {
        report('layers_bad_ports', `${path}[${at}].${key}`, `${type} has two ports with the ${key} '${value}'`, {
          type,
          [key]: value,
        });
      }
    }
    ports.push({ id, name });
  });
  return ports;
}

/** Reads nodes and edges; what cannot be read is reported and left out. */
export function readGraph(json: Json, report: Report): SequentialGraph {
  const lists = ['nodes', 'edges'].map((key) => {
    if (Array.isArray(json[key])) return json[key] as readonly unknown[];
    report('layers_bad_format', key, `${key} must be a list, got ${show(json[key])}`, { key });
    return [];
  });
  const nodes: SequentialNode[] = [];
  lists[0]!.forEach((raw, at) => {
    const path = `nodes[${at}]`;
    const id = isRecord(raw) ? text(raw.id) : null;
    const type = isRecord(raw) ? text(raw.type) : null;
    if (!isRecord(raw) || id === null || type === null) {
      report('layers_bad_format', path, `node ${at} needs an id and a type, got ${show(raw)}`);
      return;
    }
    if (nodes.some((node) => node.id === id)) {
      report('layers_duplicate_id', `${path}.id`, `two nodes have the id '${id}'`, { id });
      return;
    }
    const params = raw.params ?? {};
    if (!isRecord(params)) {
      report(
        'layers_bad_params',
        `${path}.params`,
        `the params of ${type} '${id}' must be an object, got ${show(params)}`,
        { id, type },
      );
    }
    const terminal = type === 'Input' || type === 'Output';
    const ports = terminal ? readPorts(raw.ports, type, `${path}.ports`, report) : [];
    nodes.push({ id, type, params: isRecord(params) ? params : {}, ports, path });
  });
  const edges: SequentialEdge[] = [];
  lists[1]!.forEach((raw, at) => {
    const path = `edges[${at}]`;
    const source = isRecord(raw) ? text(raw.source) : null;
    const target = isRecord(raw) ? text(raw.target) : null;
    if (!isRecord(raw) || source === null || target === null) {
      report('layers_bad_format', path, `edge ${at} needs a source and a target, got ${show(raw)}`);
      return;
    }
    edges.push({ source, target, sourceHandle: text(raw.sourceHandle), targetHandle: text(raw.targetHandle), path });
  });
  return { nodes, edges };
}

/** The parameters a layer of a SequentialModel gets: its attention is batch-first self-attention. */
export function layerParams(node: SequentialNode): Readonly<Record<string, unknown>> {
  return node.type === 'MultiHeadAttention' ? { batch_first: true, ...node.params } : node.params;
}

function checkLayer(node: SequentialNode, report: Report): void {
  try {
    layerDef(node.type).normalise(layerParams(node));
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    const known = Object.hasOwn(LAYERS, node.type);
    if (known) report('layers_bad_params', `${node.path}.params`, error.message, { id: node.id, type: node.type });
    else {
      const code = error.code === 'unsupported' ? 'layers_unsupported_layer' : 'layers_unknown_layer';
      const near = nearMatches(node.type, [...Object.keys(LAYERS), 'Input', 'Output']);
      report(code, `${node.path}.type`, error.message, { id: node.id, type: node.type, near });
    }
  }
}

function checkHandle(edge: SequentialEdge, node: SequentialNode, side: 'source' | 'target', report: Report): void {
  const handle = side === 'source' ? edge.sourceHandle : edge.targetHandle;
  if (node.ports.some((port) => port.id === handle)) return;
  const ids = node.ports.map((port) => port.id).join(', ');
  const what = handle === null ? `needs a ${side}Handle` : `has the unknown ${side}Handle '${handle}'`;
  const direction = side === 'source' ? 'from Input' : 'into Output';
  report(
    'layers_bad_handle',
    `${edge.path}.${side}Handle`,
    `the edge ${direction} ${what}; port ids of ${node.type}: ${ids}`,
    { handle },
  );
}

function checkEdges({ nodes, edges }: SequentialGraph, report: Report): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const edge of edges) {
    for (const side of ['source', 'target'] as const) {
      const node = byId.get(edge[side]);
      if (!node) {
        report('layers_unknown_endpoint', `${edge.path}.${side}`, `the edge's ${side} '${edge[side]}' is not a node`, {
          [side]: edge[side],
        });
      } else if (side === 'source' && node.type === 'Output') {
        report('layers_wrong_inputs', edge.path, 'an edge cannot leave the Output node', { id: node.id });
      } else if (side === 'target' && node.type === 'Input') {
        report('layers_wrong_inputs', edge.path, 'an edge cannot enter the Input node', { id: node.id });
      } else if (node.type === (side === 'source' ? 'Input' : 'Output')) checkHandle(edge, node, side, report);
    }
  }
}

function checkInputCounts({ nodes, edges }: SequentialGraph, report: Report): void {
  for (const node of nodes) {
    const incoming = edges.filter((edge) => edge.target === node.id);
    if (node.type === 'Input' || node.type === 'Output') {
      const source = node.type === 'Input';
      for (const [at, port] of node.ports.entries()) {
        const count = edges.filter((edge) =>
          source
            ? edge.source === node.id && edge.sourceHandle === port.id
            : edge.target === node.id && edge.targetHandle === port.id,
        ).length;
        const path = `${node.path}.ports[${at}]`;
        if (source && count === 0) {
          report('layers_unused_port', path, `Input port '${port.name}' has no outgoing edge`, { port: port.name });
        } else if (!source && count !== 1) {
          report(
            'layers_wrong_inputs',
            path,
            `Output port '${port.name}' needs exactly one incoming edge, got ${count}`,
            {
              port: port.name,
              count,
            },
          );
        }
      }
    } else if (Object.hasOwn(LAYERS, node.type)) {
      const merge = MERGE_NAMES.has(node.type);
      const [min, max] = merge ? arityRange(LAYERS[node.type]!.arity) : [1, 1];
      const count = incoming.length;
      if (count < min || count > max) {
        const wanted = min === max ? `exactly ${min}` : `at least ${min}`;
        const message = `${node.type} '${node.id}' needs ${wanted} incoming edge${min === 1 && max === 1 ? '' : 's'}, got ${count}`;
        report('layers_wrong_inputs', node.path, message, { id: node.id, count, min });
      }
    }
  }
}

function checkCycles({ nodes, edges }: SequentialGraph, report: Report): void {
  const waiting = new Map(nodes.map((node) => [node.id, 0]));
  const targets = new Map<string, string[]>();
  for (const { source, target } of edges) {
    if (!waiting.has(source) || !waiting.has(target)) continue;
    waiting.set(target, waiting.get(target)! + 1);
    targets.set(source, [...(targets.get(source) ?? []), target]);
  }
  const ready = nodes.filter((node) => waiting.get(node.id) === 0).map((node) => node.id);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    waiting.delete(id);
    for (const target of targets.get(id) ?? []) {
      const left = waiting.get(target)! - 1;
      waiting.set(target, left);
      if (left === 0) ready.push(target);
    }
  }
  if (waiting.size === 0) return;
  const ids = [...waiting.keys()];
  report('layers_cycle', 'edges', `the layers form a cycle through ${ids.map((id) => `'${id}'`).join(', ')}`, { ids });
}

/** Every rule of the version 2 format. */
export function checkGraph(graph: SequentialGraph, report: Report): void {
  for (const type of ['Input', 'Output']) {
    const count = graph.nodes.filter((node) => node.type === type).length;
    if (count !== 1)
      report('layers_bad_ports', 'nodes', `exactly one ${type} node is needed, got ${count}`, { type, count });
  }
  for (const node of graph.nodes) if (node.type !== 'Input' && node.type !== 'Output') checkLayer(node, report);
  checkEdges(graph, report);
  checkInputCounts(graph, report);
  checkCycles(graph, report);
}
