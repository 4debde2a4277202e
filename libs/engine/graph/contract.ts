import type { CatalogView, GraphFile, GraphIssue } from '@cdui/protocol';
import { executableSet } from './executable-set';
import type { FlatNode } from './flat-graph';
import { describe, whereabouts } from './flat-graph';
import type { PresetSource } from './flatten';
import { flatten } from './flatten';
import { Issues } from './issues';
import { show } from './json';
import { NodeTypes } from './node-types';
import { shapeIssues } from './shape';
import { lastEdgeWins } from './wiring';

export const INPUT_TYPES = ['string', 'number', 'integer', 'boolean', 'json', 'image'] as const;
export type GraphInputType = (typeof INPUT_TYPES)[number];

export interface ContractInput {
  readonly name: string;
  readonly type: GraphInputType;
  readonly required: boolean;
  /** Parsed from the file's text; null when there is none. */
  readonly default: unknown;
  readonly description: string;
  readonly node_id: string;
}

export interface ContractOutput {
  readonly name: string;
  readonly description: string;
  readonly node_id: string;
}

/** A graph as a function. */
export interface GraphContract {
  readonly inputs: readonly ContractInput[];
  readonly outputs: readonly ContractOutput[];
}

export interface ContractResult {
  readonly contract: GraphContract;
  /** Why the graph cannot be called, or nothing. */
  readonly issues: readonly GraphIssue[];
}

const NAME = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;

/** The graph's interface: its own GraphInput and GraphOutput nodes (those inside blocks do not count) in file order. */
export function graphContract(graph: GraphFile, catalog: CatalogView, presets: PresetSource): ContractResult {
  const shape = shapeIssues(graph);
  if (shape.length > 0) return { contract: { inputs: [], outputs: [] }, issues: shape };
  const types = new NodeTypes(catalog);
  const { graph: flat, reached } = lastEdgeWins(flatten(graph, presets).graph);
  const issues = new Issues();
  const triggered = new Set(flat.triggers.map((edge) => edge.target));
  const set = executableSet(flat, reached);
  const own = flat.nodes.filter((node) => node.origin.innerId === null);
  const inputs = own.flatMap((node) => (isInterface(node, 'GraphInput') ? [inputOf(node, types, issues)] : []));
  const outputs = own.flatMap((node) => (isInterface(node, 'GraphOutput') ? [outputOf(node, types, issues)] : []));
  for (const node of own) {
    if (isInterface(node, 'GraphInput') && !triggered.has(node.id)) {
      report(issues, node, `is not triggered: connect a Start node to it`);
    } else if (isInterface(node, 'GraphOutput') && !set.has(node.id)) {
      report(issues, node, 'is not reached from any entry point: connect its input to a node that runs');
    }
  }
  reportSameNames(issues, inputs, 'GraphInput');
  reportSameNames(issues, outputs, 'GraphOutput');
  if (outputs.length === 0) {
    issues.add(
      'invalid_contract',
      null,
      'The graph has no GraphOutput node: add one for each value that a caller should get',
    );
  }
  return { contract: { inputs, outputs }, issues: issues.list };
}

/** Problems of interface nodes that also spoil a run on the canvas: names, types, defaults, equal names. */
export function interfaceIssues(nodes: readonly FlatNode[], types: NodeTypes): readonly GraphIssue[] {
  const issues = new Issues();
  const own = nodes.filter((node) => node.origin.innerId === null);
  const inputs = own.flatMap((node) => (isInterface(node, 'GraphInput') ? [inputOf(node, types, issues)] : []));
  const outputs = own.flatMap((node) => (isInterface(node, 'GraphOutput') ? [outputOf(node, types, issues)] : []));
  reportSameNames(issues, inputs, 'GraphInput');
  reportSameNames(issues, outputs, 'GraphOutput');
  return issues.list;
}

function isInterface(node: FlatNode, type: 'GraphInput' | 'GraphOutput'): boolean {
  return node.type === type;
}

function inputOf(node: FlatNode, types: NodeTypes, issues: Issues): ContractInput {
  const params = {
    name: 'input',
    type: 'string',
    required: true,
    default: '',
    description: '',
    ...(types.of(node)?.params ?? node.params),
  };
  const name = nameOf(node, params.name, issues);
  const type = INPUT_TYPES.find((candidate) => candidate === params.type);
  if (type === undefined)
    report(issues, node, `has the type ${show(params.type)}: use one of ${INPUT_TYPES.join(', ')}`, { param: 'type' });
  const required = params.required !== false;
  if (type === 'image' && !required)
    report(issues, node, 'is an image and must be required: set "required" to true', { param: 'required' });
  const initial = parseDefault(params.default, type ?? 'string');
  if ('problem' in initial) {
    report(issues, node, `has the default ${show(params.default)}, which is ${initial.problem}: correct or empty it`, {
      param: 'default',
    });
  }
  return {
    name,
    type: type ?? 'string',
    required,
    default: 'value' in initial ? initial.value : null,
    description: text(params.description),
    node_id: node.id,
  };
}

function outputOf(node: FlatNode, types: NodeTypes, issues: Issues): ContractOutput {
  const params = { name: 'output', description: '', ...(types.of(node)?.params ?? node.params) };
  return { name: nameOf(node, params.name, issues), description: text(params.description), node_id: node.id };
}

function nameOf(node: FlatNode, name: unknown, issues: Issues): string {
  if (typeof name === 'string' && NAME.test(name)) return name;
  report(issues, node, `has the name ${show(name)}: use a letter or _ followed by at most 63 letters, digits or _`, {
    param: 'name',
  });
  return text(name);
}

/**
 * The default of a GraphInput, which a file keeps as text: parsed by type, null when it is empty (an empty text is a text). An
 * image's default is the path of a file and stays a text.
 */
export function parseDefault(
  value: unknown,
  type: GraphInputType,
): { readonly value: unknown } | { readonly problem: string } {
  if (typeof value !== 'string')
    return value === null || value === undefined ? { value: null } : { problem: 'not a text' };
  if (type === 'string') return { value };
  const trimmed = value.trim();
  if (trimmed === '') return { value: null };
  switch (type) {
    case 'image':
      return { value };
    case 'number':
    case 'integer': {
      const number = Number(trimmed);
      if (!Number.isFinite(number)) return { problem: 'not a number' };
      return type === 'integer' && !Number.isInteger(number) ? { problem: 'not a whole number' } : { value: number };
    }
    case 'boolean': {
      const lower = trimmed.toLowerCase();
      return lower === 'true' || lower === 'false'
        ? { value: lower === 'true' }
        : { problem: 'neither true nor false' };
    }
    case 'json':
      try {
        return { value: JSON.parse(trimmed) };
      } catch {
        return { problem: 'not valid JSON' };
      }
  }
}

function reportSameNames(
  issues: Issues,
  items: readonly { readonly name: string; readonly node_id: string }[],
  type: string,
): void {
  const seen = new Map<string, string>();
  for (const { name, node_id } of items) {
    const first = seen.get(name);
    if (first !== undefined) {
      issues.add(
        'invalid_contract',
        node_id,
        `The ${type} nodes "${first}" and "${node_id}" have the same name ${show(name)}: rename one of them`,
        { node: node_id, other: first, name },
      );
    } else {
      seen.set(name, node_id);
    }
  }
}

function report(issues: Issues, node: FlatNode, problem: string, params: Readonly<Record<string, unknown>> = {}): void {
  issues.add('invalid_contract', node.origin.nodeId, `${describe(node)} ${problem}`, {
    ...whereabouts(node),
    ...params,
  });
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
