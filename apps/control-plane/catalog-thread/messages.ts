import type { GraphIssue, NodeDefinition, PresetDefinition, ValidationResult } from '@cdui/protocol';

type JsonObject = Readonly<Record<string, unknown>>;

/** A file of the custom-node folder that could not be used. */
export interface BrokenFile {
  readonly file: string;
  readonly message: string;
}

export interface CatalogueAnswer {
  readonly hash: string;
  readonly definitions: readonly NodeDefinition[];
  readonly presets: readonly PresetDefinition[];
  readonly broken: readonly BrokenFile[];
}

/** Where a node's code comes from. */
export interface ProvenanceAnswer {
  readonly node_id: string;
  readonly type: string;
  /** sha256 of the canonical JSON of the type's definition. */
  readonly definition_hash: string;
  readonly source: 'builtin' | 'custom';
  /** The custom node file and its sha256; null for built-in types. */
  readonly file: string | null;
  readonly file_hash: string | null;
}

/** What a submission needs to know of its graph. */
export interface PreparedAnswer {
  /** Why a run of it could not start. */
  readonly issues: readonly GraphIssue[];
  /** The graph's text with its secret parameters blank; null when it has none. */
  readonly scrubbed: string | null;
  /** For each node that will execute; null when not asked for. */
  readonly provenance: readonly ProvenanceAnswer[] | null;
}

/** What the catalogue thread answers: name -> [arguments, answer]. All of it plain data. */
export interface CatalogCalls {
  catalogue: { args: []; answer: CatalogueAnswer };
  reload: { args: []; answer: CatalogueAnswer };
  /** The graph as text: a string crosses over faster than the objects it describes. */
  prepare: { args: [graph: string, withProvenance: boolean]; answer: PreparedAnswer };
  validate: { args: [graph: unknown]; answer: ValidationResult };
  /** The graph with every secret param as an empty text. */
  blankSecrets: { args: [graph: JsonObject]; answer: JsonObject };
}

export type CatalogCall = keyof CatalogCalls;

export interface CatalogRequest {
  readonly id: number;
  readonly call: CatalogCall;
  readonly args: readonly unknown[];
}

export type CatalogResponse =
  | { readonly id: number; readonly ok: true; readonly answer: unknown }
  | { readonly id: number; readonly ok: false; readonly code: string; readonly message: string };

/** Folders the thread loads from. */
export interface CatalogThreadData {
  readonly customNodesDir: string;
  readonly presetsDir: string;
}
