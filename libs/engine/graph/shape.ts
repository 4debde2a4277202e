import type { GraphIssue } from '@cdui/protocol';
import { Issues } from './issues';
import type { JsonObject } from './json';
import { isObject, MAX_NESTING, nestsTooDeep, own, show } from './json';

export const NOTE = 'note';
export const PRESET_PREFIX = 'preset:';
export const SUBGRAPH_PREFIX = 'subgraph:';

/** Graphs without structural problems: graphs are immutable values, so that once looked at they need no second look. */
const sound = new WeakSet<object>();

/** Problems of a graph file's structure: what must hold before anything else can be said about it. */
export function shapeIssues(value: unknown): readonly GraphIssue[] {
  if (typeof value === 'object' && value !== null && sound.has(value)) return [];
  const issues = findShapeIssues(value);
  if (issues.length === 0) sound.add(value as object);
  return issues;
}

function findShapeIssues(value: unknown): readonly GraphIssue[] {
  const issues = new Issues();
  if (!isObject(value)) {
    issues.add(
      'not_a_graph',
      null,
      `A graph file must be one JSON object with "nodes" and "edges", got ${show(value)}`,
    );
    return issues.list;
  }
  if (nestsTooDeep(value)) {
    issues.add('not_a_graph', null, `The graph nests values deeper than ${MAX_NESTING} levels: flatten them`);
    return issues.list;
  }
  const list = (key: string, required: boolean): readonly unknown[] => {
    const items = own(value, key);
    if (Array.isArray(items)) return items;
    if (required || (items !== undefined && items !== null)) {
      issues.add('not_a_graph', null, `"${key}" of the graph must be a list, got ${show(items)}`, { field: key });
    }
    return [];
  };
  for (const key of ['name', 'description']) {
    const text = own(value, key);
    if (text !== undefined && text !== null && typeof text !== 'string') {
      issues.add('not_a_graph', null, `"${key}" of the graph must be a text, got ${show(text)}`, {
        field: key,
        value: text,
      });
    }
  }
  list('nodes', true).forEach((node, index) => checkNode(issues, node, `nodes[${index}]`));
  list('edges', true).forEach((edge, index) => checkEdge(issues, edge, `edges[${index}]`));
  list('presets', false).forEach((preset, index) => {
    const problem = presetProblem(preset);
    if (problem !== null)
      issues.add('malformed_preset', null, `presets[${index}]${nameOf(preset, 'preset_name')}: ${problem}`, { index });
  });
  checkSubgraphs(issues, list('subgraphs', false));
  list('segmentGroups', false);
  checkSettings(issues, own(value, 'settings'));
  const version = own(value, 'format_version');
  if (version !== undefined && version !== null && !(Number.isInteger(version) && (version as number) >= 1)) {
    issues.add('not_a_graph', null, `"format_version" must be a whole number from 1, got ${show(version)}`, {
      value: version,
    });
  }
  return issues.list;
}

function checkNode(issues: Issues, node: unknown, where: string): void {
  const problem = nodeProblem(node);
  if (problem === null) return;
  const id = isObject(node) ? own(node, 'id') : null;
  issues.add('malformed_node', typeof id === 'string' ? id : null, `${where}: ${problem}`, { where });
}

function nodeProblem(node: unknown): string | null {
  if (!isObject(node)) return `a node must be an object, got ${show(node)}`;
  const type = own(node, 'type');
  if (type === NOTE) return null;
  const id = own(node, 'id');
  if (typeof id !== 'string' || id === '') return `a node needs a non-empty text "id", got ${show(id)}`;
  if (typeof type !== 'string' || type === '')
    return `node ${show(id)} needs a non-empty text "type", got ${show(type)}`;
  const data = own(node, 'data');
  if (absent(data)) return null;
  if (!isObject(data)) return `"data" of node ${show(id)} must be an object, got ${show(data)}`;
  const params = own(data, 'params');
  if (!absent(params) && !isObject(params))
    return `"params" of node ${show(id)} must be an object, got ${show(params)}`;
  const bypassed = own(data, 'bypassed');
  if (!absent(bypassed) && typeof bypassed !== 'boolean') {
    return `"bypassed" of node ${show(id)} must be true or false, got ${show(bypassed)}`;
  }
  return innerParamsProblem(own(data, 'internalParams'), id);
}

function innerParamsProblem(inner: unknown, id: string): string | null {
  if (absent(inner)) return null;
  const fine = isObject(inner) && Object.values(inner).every((params) => absent(params) || isObject(params));
  return fine ? null : `"internalParams" of node ${show(id)} must map inner node ids to objects, got ${show(inner)}`;
}

function checkEdge(issues: Issues, edge: unknown, where: string): void {
  const problem = edgeProblem(edge);
  if (problem !== null) issues.add('malformed_edge', null, `${where}: ${problem}`, { where });
}

function edgeProblem(edge: unknown): string | null {
  if (!isObject(edge)) return `an edge must be an object, got ${show(edge)}`;
  for (const key of ['source', 'target']) {
    const id = own(edge, key);
    if (typeof id !== 'string') return `"${key}" of an edge must be a node id, got ${show(id)}`;
  }
  for (const key of ['id', 'sourceHandle', 'targetHandle', 'type']) {
    const text = own(edge, key);
    if (!absent(text) && typeof text !== 'string') return `"${key}" of an edge must be a text, got ${show(text)}`;
  }
  return null;
}

/** What is wrong with the structure of a preset definition, or null. Lists of exposed things may be absent. */
export function presetProblem(preset: unknown): string | null {
  if (!isObject(preset)) return `a preset must be an object, got ${show(preset)}`;
  const name = own(preset, 'preset_name');
  if (typeof name !== 'string' || name === '')
    return `a preset needs a non-empty text "preset_name", got ${show(name)}`;
  for (const node of listOf(preset, 'nodes') ?? [null]) {
    if (!isObject(node)) return '"nodes" of a preset must be a list of objects';
    const problem = nodeProblem(node);
    if (problem !== null) return problem;
    const params = own(node, 'params');
    if (!absent(params) && !isObject(params))
      return `"params" of inner node ${show(own(node, 'id'))} must be an object, got ${show(params)}`;
    const inner = innerParamsProblem(own(node, 'internalParams'), String(own(node, 'id')));
    if (inner !== null) return inner;
  }
  for (const edge of optionalList(preset, 'edges') ?? [null]) {
    const problem = edgeProblem(edge);
    if (problem !== null) return problem;
  }
  return (
    boundaryProblem(preset, 'exposed_inputs', ['name', 'internal_node', 'internal_port'], 'name') ??
    boundaryProblem(preset, 'exposed_outputs', ['name', 'internal_node', 'internal_port'], 'name') ??
    boundaryProblem(preset, 'exposed_params', ['internal_node', 'param_name'], null)
  );
}

function boundaryProblem(
  holder: JsonObject,
  key: string,
  texts: readonly string[],
  unique: string | null,
): string | null {
  const items = optionalList(holder, key);
  if (items === null) return `"${key}" must be a list`;
  const seen = new Set<unknown>();
  for (const item of items) {
    const missing = texts.find((text) => !isObject(item) || typeof own(item, text) !== 'string');
    if (missing !== undefined) return `each item of "${key}" needs the text "${missing}"`;
    const name = unique === null ? null : own(item as JsonObject, unique);
    if (name !== null && seen.has(name)) return `"${key}" has two items named ${show(name)}`;
    seen.add(name);
  }
  return null;
}

function checkSubgraphs(issues: Issues, subgraphs: readonly unknown[]): void {
  const seen = new Set<unknown>();
  subgraphs.forEach((subgraph, index) => {
    const where = `subgraphs[${index}]`;
    const problem = subgraphProblem(subgraph);
    const id = isObject(subgraph) ? own(subgraph, 'id') : null;
    if (problem !== null) {
      issues.add('malformed_subgraph', null, `${where}${nameOf(subgraph, 'id')}: ${problem}`, { index, subgraph: id });
      return;
    }
    if (seen.has(id)) {
      issues.add('malformed_subgraph', null, `Two subgraphs have the id ${show(id)}: rename one of them`, {
        index,
        subgraph: id,
      });
    }
    seen.add(id);
    for (const [at, node] of (listOf(subgraph as JsonObject, 'nodes') ?? []).entries())
      checkNode(issues, node, `${where}.nodes[${at}]`);
    for (const [at, edge] of (listOf(subgraph as JsonObject, 'edges') ?? []).entries())
      checkEdge(issues, edge, `${where}.edges[${at}]`);
  });
}

function subgraphProblem(subgraph: unknown): string | null {
  if (!isObject(subgraph)) return `a subgraph must be an object, got ${show(subgraph)}`;
  const id = own(subgraph, 'id');
  if (typeof id !== 'string' || id === '') return `a subgraph needs a non-empty text "id", got ${show(id)}`;
  if (listOf(subgraph, 'nodes') === null) return '"nodes" must be a list';
  if (optionalList(subgraph, 'edges') === null) return '"edges" must be a list';
  const boundary = own(subgraph, 'interface');
  if (absent(boundary)) return null;
  if (!isObject(boundary)) return `"interface" must be an object, got ${show(boundary)}`;
  const triggers = optionalList(boundary, 'triggerTargets');
  if (triggers === null || !triggers.every((target) => typeof target === 'string'))
    return '"triggerTargets" must be a list of node ids';
  return (
    boundaryProblem(boundary, 'inputs', ['port', 'innerNode', 'innerPort'], 'port') ??
    boundaryProblem(boundary, 'outputs', ['port', 'innerNode', 'innerPort'], 'port')
  );
}

const DEVICE = /^(auto|cpu|mps(:0)?|cuda(:(0|[1-9]\d{0,3}))?)$/i;
const MAX_SEED = 2 ** 32 - 1;

function checkSettings(issues: Issues, settings: unknown): void {
  if (absent(settings)) return;
  const bad = (field: string, value: unknown, rule: string) =>
    issues.add('invalid_settings', null, `settings.${field} must be ${rule}, got ${show(value)}`, { field, value });
  if (!isObject(settings)) {
    issues.add('invalid_settings', null, `"settings" must be an object, got ${show(settings)}`, { value: settings });
    return;
  }
  const device = own(settings, 'device');
  if (!absent(device) && !(typeof device === 'string' && DEVICE.test(device))) {
    bad('device', device, 'auto, cpu, cuda, cuda:N or mps');
  }
  const seed = own(settings, 'seed');
  if (!absent(seed) && !(Number.isInteger(seed) && (seed as number) >= 0 && (seed as number) <= MAX_SEED)) {
    bad('seed', seed, `null or a whole number from 0 to ${MAX_SEED}`);
  }
  const deterministic = own(settings, 'deterministic');
  if (!absent(deterministic) && typeof deterministic !== 'boolean')
    bad('deterministic', deterministic, 'true or false');
}

function absent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function listOf(holder: JsonObject, key: string): readonly unknown[] | null {
  const items = own(holder, key);
  return Array.isArray(items) ? (items as readonly unknown[]) : null;
}

function optionalList(holder: JsonObject, key: string): readonly unknown[] | null {
  return absent(own(holder, key)) ? [] : listOf(holder, key);
}

function nameOf(value: unknown, key: string): string {
  const name = isObject(value) ? own(value, key) : null;
  return typeof name === 'string' ? ` (${show(name)})` : '';
}
