/** The types a port can have. */
export const PORT_TYPES = [
  'TENSOR',
  'MODEL',
  'DATASET',
  'DATALOADER',
  'OPTIMIZER',
  'LOSS_FN',
  'SCALAR',
  'STRING',
  'IMAGE',
  'LIST',
  'ANY',
  'TRIGGER',
  'TRANSFORM',
] as const;
export type PortType = (typeof PORT_TYPES)[number];

export const PARAM_TYPES = [
  'int',
  'float',
  'string',
  'bool',
  'select',
  'model_file',
  'image_file',
  'data_file',
  'tensor_grid',
  'secret',
] as const;
export type ParamType = (typeof PARAM_TYPES)[number];

/** One input or output of a node, as `GET /api/nodes` serves it. */
export interface PortDefinition {
  readonly name: string;
  readonly data_type: PortType;
  readonly description: string;
  /** Whether the node runs without it. */
  readonly optional: boolean;
}

/** One parameter of a node, as `GET /api/nodes` serves it. */
export interface ParamDefinition {
  readonly name: string;
  readonly param_type: ParamType;
  readonly default: unknown;
  readonly description: string;
  /** Allowed values of a `select`; empty for every other type. */
  readonly options: readonly string[];
  /** Inclusive bounds of a number; null is unbounded. */
  readonly min_value: number | null;
  readonly max_value: number | null;
  /** Display rule only: the values of a sibling for which the param is shown. */
  readonly visible_when: Readonly<Record<string, unknown>> | null;
  /** Whether panels fold it away. */
  readonly advanced: boolean;
}

/** The published part of a node type: what the catalogue hash covers. */
export interface NodeDefinition {
  readonly node_name: string;
  readonly category: string;
  readonly description: string;
  readonly inputs: readonly PortDefinition[];
  readonly outputs: readonly PortDefinition[];
  readonly params: readonly ParamDefinition[];
  /** `builtin`, or the custom file or plugin it comes from. */
  readonly provider: string;
}

/** Whether a value of type `source` may enter a port of type `target` (graph-file rules on port compatibility). */
export function portsCompatible(source: PortType, target: PortType): boolean {
  if (source === 'TRIGGER' || target === 'TRIGGER') return source === target;
  if (source === target || source === 'ANY' || target === 'ANY') return true;
  return source === 'IMAGE' && target === 'TENSOR';
}
