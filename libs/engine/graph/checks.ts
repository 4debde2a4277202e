import type { GraphIssue, ParamDefinition } from '@cdui/protocol';
import { portsCompatible } from '@cdui/protocol';
import type { FlatEdge, FlatGraph, FlatNode } from './flat-graph';
import { describe, indexNodes, whereabouts } from './flat-graph';
import { Issues, makeIssue } from './issues';
import { listNames, own, show } from './json';
import type { NodeTypes, TypedNode } from './node-types';
import { inputKey, PortSet } from './wiring';

export interface CheckContext {
  readonly types: NodeTypes;
  /** Inputs that a bypassed node left without an edge. */
  readonly lost: ReadonlyMap<string, FlatNode>;
  /** Inputs (`inputKey`) that get their value from outside of the graph. */
  readonly supplied: ReadonlySet<string>;
}

/** Checks 1 to 7 of the graph format, in that order: types, inputs, params, edges. */
export function checkGraph(graph: FlatGraph, context: CheckContext): readonly GraphIssue[] {
  const issues = new Issues();
  const wired = new PortSet();
  for (const edge of graph.data) wired.add(edge.target, edge.targetPort);
  for (const node of graph.nodes) if (!node.broken) checkType(issues, node, context.types);
  for (const node of graph.nodes) checkInputs(issues, node, wired, context);
  for (const node of graph.nodes) checkParams(issues, node, context.types);
  checkEdges(issues, graph, context);
  return issues.list;
}

function checkType(issues: Issues, node: FlatNode, types: NodeTypes): void {
  if (types.of(node)) return;
  if (types.isReserved(node.type)) {
    issues.add(
      'node_not_available',
      node.origin.nodeId,
      `${describe(node)} has a type that is specified but not available in this version: use another node`,
      whereabouts(node),
    );
  } else {
    issues.add(
      'unknown_node_type',
      node.origin.nodeId,
      `${describe(node)} has a type that is not installed: correct the type, or install the plugin or custom node that provides it`,
      whereabouts(node),
    );
  }
}

function checkInputs(issues: Issues, node: FlatNode, wired: PortSet, context: CheckContext): void {
  for (const port of context.types.of(node)?.inputs ?? []) {
    if (port.optional || port.data_type === 'TRIGGER' || wired.has(node.id, port.name)) continue;
    const key = inputKey(node.id, port.name);
    if (context.supplied.has(key)) continue;
    const bypassed = context.lost.get(key);
    const reason = bypassed
      ? ` (it came through the bypassed node "${bypassed.id}", whose own input is not connected)`
      : '';
    issues.add(
      'missing_input',
      node.origin.nodeId,
      `${describe(node)} has nothing connected to its required input "${port.name}" (${port.data_type})${reason}: connect a ${port.data_type} output to it`,
      { ...whereabouts(node), port: port.name, data_type: port.data_type, ...(bypassed && { bypassed: bypassed.id }) },
    );
  }
}

function checkParams(issues: Issues, node: FlatNode, types: NodeTypes): void {
  const typed = types.of(node);
  if (!typed) return;
  const found = new Issues();
  if (typed.failure !== null) {
    found.add(
      'invalid_param',
      node.origin.nodeId,
      `${describe(node)} cannot tell its ports from its params: ${typed.failure}`,
      whereabouts(node),
    );
  }
  for (const param of typed.definition.params) {
    const value = own(node.params, param.name);
    if (value !== undefined) checkParam(found, node, param, value);
  }
  // A type's own rules may assume that each param by itself is fine.
  if (found.empty) issues.addAll(ownChecks(node, typed, types));
  else issues.addAll(inWordsOfTheType(found.list, node, typed, types));
}

/** Only a type knows what an option that it does not offer would need: what it says about one replaces the list of its options. */
function inWordsOfTheType(
  found: readonly GraphIssue[],
  node: FlatNode,
  typed: TypedNode,
  types: NodeTypes,
): readonly GraphIssue[] {
  const isOption = ({ code }: GraphIssue): boolean => code === 'option_not_available';
  if (!found.every(isOption)) return found;
  const worded = new Map(
    ownChecks(node, typed, types)
      .filter(isOption)
      .map((issue) => [issue.params?.['param'], issue]),
  );
  return found.map((issue) => worded.get(issue.params?.['param']) ?? issue);
}

function checkParam(issues: Issues, node: FlatNode, param: ParamDefinition, value: unknown): void {
  const report = (
    code: 'param_below_min' | 'param_above_max' | 'param_not_comparable' | 'option_not_available',
    rule: string,
    params = {},
  ) =>
    issues.add(
      code,
      node.origin.nodeId,
      `${describe(node)}: param "${param.name}" must be ${rule}, got ${show(value)}`,
      { ...whereabouts(node), param: param.name, value, ...params },
    );
  // Null is "no value": only params without a default of their own may have it.
  if (value === null && param.default === null) return;
  switch (param.param_type) {
    case 'int':
    case 'float': {
      if (typeof value !== 'number' || !Number.isFinite(value)) {
        report('param_not_comparable', 'a number');
      } else if (param.min_value !== null && value < param.min_value) {
        report('param_below_min', `at least ${param.min_value}`, { min: param.min_value });
      } else if (param.max_value !== null && value > param.max_value) {
        report('param_above_max', `at most ${param.max_value}`, { max: param.max_value });
      } else if (param.param_type === 'int' && !Number.isInteger(value)) {
        report('param_not_comparable', 'a whole number');
      }
      return;
    }
    case 'select':
      if (typeof value !== 'string' || !param.options.includes(value)) {
        report('option_not_available', `one of ${listNames(param.options)}`, { options: param.options });
      }
      return;
    default:
      return;
  }
}

function ownChecks(node: FlatNode, typed: TypedNode, types: NodeTypes): readonly GraphIssue[] {
  try {
    return types.check(node, typed).map((issue) => ({
      ...makeIssue(issue.code, node.origin.nodeId, named(issue.message, node), issue.params),
      params: { ...whereabouts(node), ...issue.params },
    }));
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return [
      makeIssue(
        'invalid_param',
        node.origin.nodeId,
        `${describe(node)} cannot check its params: ${detail}`,
        whereabouts(node),
      ),
    ];
  }
}

/** A type's rules do not know which node they check: of several of its kind, the message names the one. */
function named(message: string, node: FlatNode): string {
  if (message.includes(`"${node.id}"`)) return message;
  const own = `${node.type}: `;
  return `${describe(node)}: ${message.startsWith(own) ? message.slice(own.length) : message}`;
}

function checkEdges(issues: Issues, graph: FlatGraph, { types }: CheckContext): void {
  const nodes = indexNodes(graph.nodes);
  if (graph.data.every((edge) => isSound(edge, nodes, types))) return;
  for (const edge of graph.data) {
    for (const [side, id] of [
      ['source', edge.source],
      ['target', edge.target],
    ] as const) {
      const other = nodes.get(side === 'source' ? edge.target : edge.source);
      if (!nodes.has(id)) {
        issues.add(
          'edge_missing_node',
          other?.origin.nodeId ?? null,
          `Edge "${edge.id}" has the ${side} "${id}", which is no node of the graph: remove the edge or correct its ${side}`,
          { edge: edge.id, [side]: id },
        );
      }
    }
  }
  const ends = graph.data.flatMap((edge) => {
    const source = nodes.get(edge.source);
    const target = nodes.get(edge.target);
    return source && target ? [{ edge, source, target }] : [];
  });
  for (const { edge, source } of ends) checkPort(issues, edge, source, 'output', types);
  for (const { edge, target } of ends) checkPort(issues, edge, target, 'input', types);
  for (const { edge, source, target } of ends) {
    const output = types.of(source)?.outputs.find((port) => port.name === edge.sourcePort);
    const input = types.of(target)?.inputs.find((port) => port.name === edge.targetPort);
    if (!output || !input || portsCompatible(output.data_type, input.data_type)) continue;
    issues.add(
      'type_mismatch',
      target.origin.nodeId,
      `${describe(target)} cannot take ${output.data_type} (output "${output.name}" of "${source.id}") at its input "${input.name}", which needs ${input.data_type}: convert the value or use another port`,
      {
        ...whereabouts(target),
        edge: edge.id,
        source: source.id,
        source_port: output.name,
        port: input.name,
        got: output.data_type,
        needed: input.data_type,
      },
    );
  }
}

/** Whether nothing is to be said about the edge. */
function isSound(edge: FlatEdge, nodes: ReadonlyMap<string, FlatNode>, types: NodeTypes): boolean {
  const source = nodes.get(edge.source);
  const target = nodes.get(edge.target);
  if (!source || !target) return false;
  const [from, to] = [types.of(source), types.of(target)];
  const output = from?.outputs.find((port) => port.name === edge.sourcePort);
  const input = to?.inputs.find((port) => port.name === edge.targetPort);
  if ((from && !output) || (to && !input)) return false;
  return !output || !input || portsCompatible(output.data_type, input.data_type);
}

function checkPort(issues: Issues, edge: FlatEdge, node: FlatNode, side: 'input' | 'output', types: NodeTypes): void {
  const typed = types.of(node);
  if (!typed) return;
  const ports = side === 'input' ? typed.inputs : typed.outputs;
  const name = side === 'input' ? edge.targetPort : edge.sourcePort;
  if (ports.some((port) => port.name === name)) return;
  issues.add(
    `unknown_${side}_port`,
    node.origin.nodeId,
    `${describe(node)} has no ${side} "${name}"; its ${side}s are ${listNames(ports.map((port) => port.name))}: correct edge "${edge.id}"`,
    { ...whereabouts(node), port: name, edge: edge.id },
  );
}

/** Checks 8 and 9: an entry point, and no cycle among the nodes that run. */
export function cycleIssue(cycle: readonly FlatNode[]): GraphIssue {
  const first = cycle[0] as FlatNode;
  const ids = cycle.map((node) => node.id);
  const containers = [...new Set(cycle.flatMap((node) => (node.origin.innerId === null ? [] : [node.origin.nodeId])))];
  const shown = ids.length > 20 ? [...ids.slice(0, 20), `... (${ids.length} nodes)`] : ids;
  const through =
    containers.length > 0
      ? ` (through ${containers.length > 1 ? 'the blocks' : 'the block'} ${listNames(containers)})`
      : '';
  return makeIssue(
    'cycle',
    first.origin.nodeId,
    `The graph has a cycle: ${[...shown, first.id].join(' -> ')}${through}; remove one of its edges`,
    { path: [...ids, first.id], containers },
  );
}

export function noEntryPoint(): GraphIssue {
  return makeIssue(
    'no_entry_points',
    null,
    'The graph has no entry point: connect the trigger of a Start node to the first node that should run',
  );
}
