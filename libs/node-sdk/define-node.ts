import type {
  GraphIssue,
  NodeDefinition,
  ParamDefinition,
  Params,
  PortDefinition,
  PortType,
  RunFolders,
} from '@cdui/protocol';
import { CodedError, PARAM_TYPES, PORT_TYPES } from '@cdui/protocol';
import { InputReader } from './input-reader';
import { isList, isRecord } from './kinds';
import type { NodeContext, NodeNeeds, NodeResult, NodeType } from './node';
import { describeNode } from './node-label';
import { ParamReader } from './param-reader';
import type { ParamSpec } from './param';
import { whyNotData } from './plain-data';
import type { PortValue } from './values';

/** `'TENSOR'`, `'TENSOR?'` for an optional one, or either with a description: `['TENSOR', 'Images, NCHW']`. */
export type PortSpec = PortKind | readonly [kind: PortKind, description: string];
export type PortKind = PortType | `${PortType}?`;
export type Ports = Readonly<Record<string, PortSpec>>;

/** Port -> value. A port left out carries nothing. */
export type NodeOutputs = Readonly<Record<string, PortValue | undefined>>;

/** What an author writes; `defineNode` makes a `NodeType` of it. */
export interface NodeSpec {
  readonly name: string;
  readonly category: string;
  readonly description: string;
  readonly inputs?: Ports;
  readonly outputs?: Ports;
  readonly params?: Readonly<Record<string, ParamSpec>>;
  /** Default true: equal params, files and inputs give equal outputs, and nothing is written. */
  readonly cacheable?: boolean;
  readonly needs?: NodeNeeds;
  readonly ownsWeights?: boolean;
  readonly startsBackward?: boolean;
  /** Ports that depend on params, in place of `inputs` and `outputs`. Must not throw: it sees unchecked params. */
  inputsFor?(params: Params): Ports;
  outputsFor?(params: Params): Ports;
  check?(params: Params, nodeId: string): readonly GraphIssue[];
  files?(params: Params, folders: RunFolders): readonly string[];
  /** Computes the outputs. A node that stopped early at a safe point returns `interrupted(outputs, facts)`. */
  execute(
    context: NodeContext,
    inputs: InputReader,
    params: ParamReader,
  ): Promise<NodeOutputs | Interrupted> | NodeOutputs | Interrupted;
}

/** Outputs of a node that stopped early, with the facts its report carries. */
export class Interrupted {
  constructor(
    readonly outputs: NodeOutputs,
    readonly facts: Readonly<Record<string, unknown>>,
  ) {}
}

/** What a node returns when it was asked to stop and did so at a safe point: what it has, and where it stopped. */
export function interrupted(outputs: NodeOutputs, facts: Readonly<Record<string, unknown>>): Interrupted {
  return new Interrupted(outputs, facts);
}

/**
 * Makes a node type of a short description. Its `execute` gets typed readers of inputs and params, whose errors name the node.
 *
 * @throws CodedError `invalid_node_definition` naming the member that is wrong
 */
export function defineNode(spec: NodeSpec): NodeType {
  const definition = definitionOf(spec);
  const { inputsFor, outputsFor } = spec;
  return {
    definition,
    cacheable: spec.cacheable ?? true,
    ...(spec.needs && { needs: spec.needs }),
    ...(spec.ownsWeights && { ownsWeights: true }),
    ...(spec.startsBackward && { startsBackward: true }),
    ...(inputsFor && { inputsFor: (params: Params) => portsOf(spec.name, 'inputsFor', inputsFor(params)) }),
    ...(outputsFor && { outputsFor: (params: Params) => portsOf(spec.name, 'outputsFor', outputsFor(params)) }),
    ...(spec.check && { check: spec.check.bind(spec) }),
    ...(spec.files && { files: spec.files.bind(spec) }),
    async execute(context, inputs, params): Promise<NodeResult> {
      const node = { id: context.nodeId, type: definition.node_name };
      const result = await spec.execute(
        context,
        new InputReader(inputs, node),
        new ParamReader(params, definition.params, node),
      );
      const outputs = result instanceof Interrupted ? result.outputs : result;
      const ports = outputsFor ? portsOf(spec.name, 'outputsFor', outputsFor(params)) : definition.outputs;
      const checked = declaredOutputs(outputs, ports, describeNode(node));
      return result instanceof Interrupted ? { outputs: checked, interrupted: result.facts } : { outputs: checked };
    },
  };
}

function definitionOf(spec: NodeSpec): NodeDefinition {
  if (typeof spec !== 'object' || spec === null) invalid('(unnamed)', 'must be an object', spec);
  const { name } = spec;
  if (typeof name !== 'string' || !NAME.test(name)) {
    invalid('(unnamed)', '"name" must be a word of letters, digits and _ that starts with a letter', name);
  }
  if (typeof spec.category !== 'string' || spec.category === '')
    invalid(name, '"category" must be a text', spec.category);
  if (typeof spec.description !== 'string') invalid(name, '"description" must be a text', spec.description);
  if (typeof spec.execute !== 'function') invalid(name, '"execute" must be a function', spec.execute);
  return {
    node_name: name,
    category: spec.category,
    description: spec.description,
    inputs: portsOf(name, 'inputs', spec.inputs ?? {}),
    outputs: portsOf(name, 'outputs', spec.outputs ?? {}),
    params: Object.entries(spec.params ?? {}).map(([param, definition]) => paramOf(name, param, definition)),
    provider: 'builtin',
  };
}

function portsOf(node: string, member: string, ports: Ports): readonly PortDefinition[] {
  if (typeof ports !== 'object' || ports === null) invalid(node, `"${member}" must be an object of ports`, ports);
  return Object.entries(ports).map(([name, spec]) => {
    const [kind, description] = typeof spec === 'string' ? [spec, ''] : Array.isArray(spec) ? spec : ['', ''];
    const type = String(kind).replace(/\?$/, '') as PortType;
    if (!PORT_TYPES.includes(type)) {
      invalid(node, `port "${name}" of "${member}" must have one of the types ${PORT_TYPES.join(', ')}`, spec);
    }
    return { name, data_type: type, description: String(description ?? ''), optional: String(kind).endsWith('?') };
  });
}

function paramOf(node: string, name: string, spec: ParamSpec): ParamDefinition {
  if (typeof spec !== 'object' || spec === null || !PARAM_TYPES.includes(spec.param_type)) {
    invalid(node, `param "${name}" must be made by a helper of "param" (int, float, text, bool, select, ...)`, spec);
  }
  const { default: initial } = spec;
  if (spec.param_type === 'select' && initial !== null && !spec.options.includes(initial as string)) {
    invalid(node, `the default of param "${name}" must be one of its options ${spec.options.join(', ')}`, initial);
  }
  return {
    name,
    param_type: spec.param_type,
    default: initial,
    description: spec.description,
    options: spec.options,
    min_value: spec.min_value,
    max_value: spec.max_value,
    visible_when: spec.visible_when,
    advanced: spec.advanced,
  };
}

/** What goes from port to port as it is: tensors, models, data sets and the like, raw bytes, and functions between custom nodes. */
function isWhole(value: object): boolean {
  if (typeof value === 'function' || ArrayBuffer.isView(value)) return true;
  return !isList(value as PortValue) && !isRecord(value as PortValue);
}

function declaredOutputs(
  outputs: unknown,
  ports: readonly PortDefinition[],
  node: string,
): Readonly<Record<string, PortValue>> {
  if (typeof outputs !== 'object' || outputs === null || Array.isArray(outputs)) {
    throw new CodedError('invalid_node_result', `${node} must return an object of port values, got ${String(outputs)}`);
  }
  const known = new Set(ports.map((port) => port.name));
  const checked: Record<string, PortValue> = {};
  for (const [port, value] of Object.entries(outputs as NodeOutputs)) {
    if (!known.has(port) && !port.startsWith('__')) {
      throw new CodedError(
        'invalid_node_result',
        `${node} returned a value for the port "${port}", which it does not have; its outputs are ${[...known].join(', ') || '(none)'}`,
        { port, ports: [...known] },
      );
    }
    if (value === undefined) continue;
    const problem = port.startsWith('__') ? null : whyNotData(value, isWhole);
    if (problem !== null) {
      throw new CodedError('invalid_node_result', `${node} returned a value for the port "${port}" that ${problem}`, {
        port,
      });
    }
    checked[port] = value;
  }
  return checked;
}

// No colon: `preset:`, `subgraph:` and plugin names use it.
const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

function invalid(node: string, problem: string, value: unknown): never {
  const got = typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value)).slice(0, 80);
  throw new CodedError('invalid_node_definition', `Node ${node}: ${problem}, got ${got}`, { node, problem });
}
