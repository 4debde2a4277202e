import type { NodeDefinition, ParamDefinition, PortDefinition, PortType } from './ports';

/** Values of a node's params, plain JSON. */
export type Params = Readonly<Record<string, unknown>>;

/** Every graph type keeps keys it does not know: files are rewritten without loss. */
export interface GraphNode {
  readonly id: string;
  readonly type: string;
  readonly position?: { readonly x: number; readonly y: number };
  readonly data?: GraphNodeData;
  readonly [unknown: string]: unknown;
}

export interface GraphNodeData {
  readonly params?: Params;
  /** Preset instances only: inner node id -> param -> value. */
  readonly internalParams?: Readonly<Record<string, Params>>;
  readonly bypassed?: boolean;
  readonly [unknown: string]: unknown;
}

export interface GraphEdge {
  readonly id?: string;
  readonly source: string;
  readonly sourceHandle?: string | null;
  readonly target: string;
  readonly targetHandle?: string | null;
  /** Absent means data. */
  readonly type?: 'data' | 'trigger' | string;
  readonly [unknown: string]: unknown;
}

export interface PresetPort {
  readonly name: string;
  readonly internal_node: string;
  readonly internal_port: string;
  readonly data_type?: PortType | '';
  readonly description?: string;
}

export interface PresetParam {
  readonly internal_node: string;
  readonly param_name: string;
  readonly display_name?: string;
  readonly group?: string;
  readonly param_def?: ParamDefinition | null;
}

export interface PresetDefinition {
  readonly preset_name: string;
  readonly category?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly nodes: readonly { readonly id: string; readonly type: string; readonly params?: Params }[];
  readonly edges: readonly {
    readonly source: string;
    readonly sourceHandle: string;
    readonly target: string;
    readonly targetHandle: string;
  }[];
  readonly exposed_inputs: readonly PresetPort[];
  readonly exposed_outputs: readonly PresetPort[];
  readonly exposed_params: readonly PresetParam[];
  readonly [unknown: string]: unknown;
}

export interface SubgraphPort {
  readonly port: string;
  readonly innerNode: string;
  readonly innerPort: string;
  readonly data_type?: PortType;
}

export interface SubgraphDefinition {
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly interface: {
    readonly inputs: readonly SubgraphPort[];
    readonly outputs: readonly SubgraphPort[];
    readonly triggerTargets: readonly string[];
  };
  readonly [unknown: string]: unknown;
}

export interface GraphSettings {
  readonly device?: string;
  /** 0 ... 2^32-1. */
  readonly seed?: number | null;
  readonly deterministic?: boolean;
  readonly [unknown: string]: unknown;
}

/** One graph file. */
export interface GraphFile {
  readonly name?: string;
  readonly description?: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly presets?: readonly PresetDefinition[];
  readonly segmentGroups?: readonly { id: string; headNodeId: string; tailNodeId: string }[];
  readonly subgraphs?: readonly SubgraphDefinition[];
  readonly settings?: GraphSettings;
  readonly format_version?: number;
  readonly [unknown: string]: unknown;
}

/** Codes of `validate`, one per kind of problem. */
export const ISSUE_CODES = [
  'not_a_graph',
  'unknown_node_type',
  'node_not_available',
  'option_not_available',
  'unknown_preset',
  'unknown_subgraph',
  'malformed_subgraph',
  'malformed_preset',
  'malformed_node',
  'malformed_edge',
  'missing_input',
  'param_below_min',
  'param_above_max',
  'param_not_comparable',
  'invalid_param',
  'edge_missing_node',
  'unknown_output_port',
  'unknown_input_port',
  'unknown_boundary_port',
  'unknown_trigger_target',
  'empty_trigger_block',
  'type_mismatch',
  'no_entry_points',
  'cycle',
  'preset_too_deep',
  'subgraph_recursion',
  'subgraph_too_deep',
  'duplicate_node_id',
  'bypass_not_allowed',
  'bypass_no_match',
  'invalid_settings',
  'invalid_layers',
  'invalid_contract',
  'duplicate_input_edge',
  'unsupported_format_version',
  'graph_too_large',
  'unknown_node',
  'invalid_input',
] as const;
export type IssueCode = (typeof ISSUE_CODES)[number];

/** One problem of a graph. `node_id` is null when it belongs to no single node. */
export interface GraphIssue {
  readonly message: string;
  readonly code: IssueCode;
  readonly node_id: string | null;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The answer of validation. `errors` repeats the issues' messages for old clients. */
export interface ValidationResult {
  readonly valid: boolean;
  readonly errors: readonly string[];
  readonly issues: readonly GraphIssue[];
  readonly warnings: readonly GraphIssue[];
}

/** What validation and expansion need to know about installed types; plain data, so any thread can hold it. */
export interface CatalogView {
  definition(type: string): NodeDefinition | undefined;
  preset(name: string): PresetDefinition | undefined;
  /** Whether the type is specified but not available yet; absent: no type is. */
  reserved?(type: string): boolean;
  /** The ports of a node with these params (defaults filled in), for types whose ports depend on them; else undefined. */
  inputs?(type: string, params: Params): readonly PortDefinition[] | undefined;
  outputs?(type: string, params: Params): readonly PortDefinition[] | undefined;
  /** Problems of a node's params that bounds and options cannot express. */
  check?(type: string, params: Params, nodeId: string): readonly GraphIssue[];
}
