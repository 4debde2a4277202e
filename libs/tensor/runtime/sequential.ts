import { RuntimeError } from './errors';
import { show } from './fields';
import {
  checkGraph,
  isRecord,
  layerParams,
  readGraph,
  type SequentialEdge,
  type SequentialGraph,
  type SequentialIssue,
} from './sequential-rules';
import type { ModuleSpec, Source } from './vocabulary';

export type { SequentialCode, SequentialIssue } from './sequential-rules';

/** The version 1 format, a list of `{type, ...arguments}`, as a version 2 chain whose node ids are those of `nn.Sequential`. */
export function upgradeLayers(chain: readonly unknown[]): Readonly<Record<string, unknown>> {
  const ids = chain.map((_, at) => String(at));
  const nodes = chain.map((raw, at) => {
    if (!isRecord(raw)) return raw;
    const { type, params, ...rest } = raw;
    return { id: ids[at], type, params: { ...rest, ...(isRecord(params) ? params : {}) } };
  });
  const stops = ['input', ...ids, 'output'];
  return {
    version: 2,
    nodes: [
      { id: 'input', type: 'Input', ports: [{ id: 'x', name: 'x' }] },
      ...nodes,
      { id: 'output', type: 'Output', ports: [{ id: 'y', name: 'y' }] },
    ],
    edges: stops.slice(1).map((target, at) => ({
      id: `e${at}`,
      source: stops[at],
      target,
      sourceHandle: at === 0 ? 'x' : null,
      targetHandle: target === 'output' ? 'y' : null,
    })),
  };
}

function parse(layers: unknown): {
  readonly graph: SequentialGraph | null;
  readonly issues: readonly SequentialIssue[];
} {
  const issues: SequentialIssue[] = [];
  const report = (
    code: SequentialIssue['code'],
    path: string,
    message: string,
    params: Record<string, unknown> = {},
  ) => {
    issues.push({ code, path, message, params });
  };
  let json = layers;
  if (typeof layers === 'string') {
    try {
      json = JSON.parse(layers);
    } catch (error) {
      report(
        'layers_not_json',
        '',
        `layers is not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
      );
      return { graph: null, issues };
    }
  }
  if (Array.isArray(json)) json = upgradeLayers(json);
  if (!isRecord(json)) {
    report(
      'layers_bad_format',
      '',
      `layers must be an object with version, nodes and edges, or a list of layers; got ${show(json)}`,
    );
    return { graph: null, issues };
  }
  if (json.version !== 2) {
    report('layers_bad_version', 'version', `layers has the version ${show(json.version)}; only 2 is known`, {
      version: json.version,
    });
    return { graph: null, issues };
  }
  const graph = readGraph(json, report);
  checkGraph(graph, report);
  return { graph, issues };
}

/**
 * Everything that is wrong with a SequentialModel's `layers`; empty when it can be built. Never throws.
 * @param layers the string (JSON) of the node's param, or its parsed value
 */
export function checkSequential(layers: unknown): readonly SequentialIssue[] {
  return parse(layers).issues;
}

/**
 * The module that a SequentialModel's `layers` describe; its inputs and outputs are the port names in port order.
 * @throws RuntimeError `invalid_argument` (`unsupported` if only layers are missing) with every problem in the message
 */
export function sequentialToModule(layers: unknown): ModuleSpec {
  const { graph, issues } = parse(layers);
  if (!graph || issues.length) {
    const onlyMissing = issues.every(({ code }) => code === 'layers_unsupported_layer');
    const lines = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
    throw new RuntimeError(onlyMissing ? 'unsupported' : 'invalid_argument', lines.join('\n'), {
      op: 'SequentialModel',
    });
  }
  const input = graph.nodes.find((node) => node.type === 'Input')!;
  const output = graph.nodes.find((node) => node.type === 'Output')!;
  const sourceOf = (edge: SequentialEdge): Source =>
    edge.source === input.id
      ? { input: input.ports.find((port) => port.id === edge.sourceHandle)!.name }
      : { node: edge.source };
  return {
    inputs: input.ports.map((port) => port.name),
    outputs: output.ports.map((port) => ({
      port: port.name,
      from: sourceOf(graph.edges.find((edge) => edge.target === output.id && edge.targetHandle === port.id)!),
    })),
    nodes: graph.nodes
      .filter((node) => node !== input && node !== output)
      .map((node) => ({
        id: node.id,
        layer: node.type,
        params: layerParams(node),
        from: graph.edges.filter((edge) => edge.target === node.id).map(sourceOf),
      })),
  };
}
