import type {
  GraphIssue,
  GraphSettings,
  NodeDefinition,
  PresetDefinition,
  SubmissionOptions,
  ValidationResult,
} from '@cdui/protocol';
import type { ProvenanceRecord } from '@cdui/nodes';

type JsonObject = Readonly<Record<string, unknown>>;

/** A file of the custom-node folder that could not be used. */
export interface BrokenFile {
  readonly file: string;
  readonly message: string;
}

export interface CatalogueAnswer {
  readonly hash: string;
  /** Type -> sha256 of its definition. */
  readonly nodeTypeHashes: Readonly<Record<string, string>>;
  readonly definitions: readonly NodeDefinition[];
  readonly presets: readonly PresetDefinition[];
  readonly broken: readonly BrokenFile[];
}

/** What a submission needs to know of its graph. */
export interface PreparedAnswer {
  /** Why a run of it could not start. */
  readonly issues: readonly GraphIssue[];
  /** The graph's text with its secret parameters blank; null when it has none. */
  readonly scrubbed: string | null;
  /** For each node that will execute; null when not asked for. */
  readonly provenance: readonly ProvenanceRecord[] | null;
  /** Of all nodes that will execute, each once; null when not asked for. */
  readonly nodeTypes: readonly string[] | null;
}

/** Which parts of the answer are worth their time. */
export interface WantedAnswers {
  readonly provenance: boolean;
  readonly nodeTypes: boolean;
}

/** A worker must know every type of the graph; this server does. */
export function wantedFor({ provenance, target }: SubmissionOptions): WantedAnswers {
  return { provenance, nodeTypes: target !== null && target.worker !== 'local' };
}

/** A submission that was read from its bytes, or why it was refused. */
export type ReadAnswer =
  /** It is no JSON that the program takes. */
  | { readonly outcome: 'unreadable'; readonly type: string; readonly message: string }
  /** Its form is wrong: the parts of a CodedError. */
  | {
      readonly outcome: 'misformed';
      readonly code: string;
      readonly message: string;
      readonly params: Readonly<Record<string, unknown>>;
    }
  | { readonly outcome: 'cannot_run'; readonly issues: readonly GraphIssue[] }
  | {
      readonly outcome: 'accepted';
      readonly name: string;
      readonly options: SubmissionOptions;
      readonly settings: GraphSettings;
      /** The graph as JSON in UTF-8, its secret parameters blank. */
      readonly graph: Uint8Array;
      /** The same with its secrets; null when it has none. */
      readonly secret: Uint8Array | null;
      readonly provenance: readonly ProvenanceRecord[] | null;
      readonly nodeTypes: readonly string[] | null;
    };

/** What the catalogue thread answers: name -> [arguments, answer]. All of it plain data. */
export interface CatalogCalls {
  catalogue: { args: []; answer: CatalogueAnswer };
  reload: { args: []; answer: CatalogueAnswer };
  /** The graph as text: a string crosses over faster than the objects it describes. */
  prepare: { args: [graph: string, wanted: WantedAnswers]; answer: PreparedAnswer };
  /** The body of a submission, as it came: nothing of it is built on the server's own thread. */
  readSubmission: { args: [body: Uint8Array]; answer: ReadAnswer };
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

/** What the thread says unasked: the folder's files that cannot be used, each time it has loaded them because they changed. */
export interface CatalogNotice {
  readonly broken: readonly BrokenFile[];
}

/** Folders the thread loads from. */
export interface CatalogThreadData {
  readonly customNodesDir: string;
  readonly presetsDir: string;
}
