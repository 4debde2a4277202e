import type {
  GraphIssue,
  NodeDefinition,
  OutputEntry,
  Params,
  PortDefinition,
  RunFolders,
  WarningPayload,
} from '@cdui/protocol';
import type { ModuleRef, ModuleSpec, Scope, TensorRef, TensorRuntime } from '@cdui/tensor/runtime';
import type { PortValue } from './values';

/** Which outside things a node touches. Outside the hashed definition; placement and caching read it. */
export interface NodeNeeds {
  /** Params that name a file the node reads. */
  readonly readsFiles?: readonly string[];
  readonly writesFiles?: boolean;
  readonly network?: boolean;
  /** The param that names an installed preset which the node runs. */
  readonly runsPreset?: string;
}

/** One recorded step of a node's own computation (`verbose` runs). */
export interface TraceStep {
  readonly name: string;
  readonly description: string;
  readonly scalars?: Readonly<Record<string, number>>;
  readonly tensors?: Readonly<Record<string, TensorRef>>;
}

/** Modules that outlive a run on a canvas session; absent on every other run. */
export interface WeightStore {
  /** The module kept for this node and these structural params, or null. */
  find(structure: string): ModuleRef | null;
  keep(structure: string, module: ModuleRef): void;
}

/** What a node may use while it executes. Nothing else reaches it: no global path, no clock of its own, no other node. */
export interface NodeContext {
  readonly nodeId: string;
  readonly runId: string;
  readonly runtime: TensorRuntime;
  /** Owns what the node creates; closed by the engine when the node ends. Outputs are kept by the engine. */
  readonly scope: Scope;
  /** The run's device: `cpu`, `cuda:0`, `mps:0`. */
  readonly device: string;
  /** The node's own seed (0 ... 2^32-1); null in a run without a seed. */
  readonly seed: number | null;
  /** A seed derived for another label of this node (`dataloader:<node id>`); null in a run without a seed. */
  seedFor(label: string): number | null;
  readonly deterministic: boolean;
  readonly verbose: boolean;
  /** Whether gradients are recorded for this run (BackwardOnce, backward mode). */
  readonly recordGradients: boolean;
  readonly folders: RunFolders;
  /** Whether the run is asked to stop; cheap enough for every batch. */
  readonly cancelled: boolean;
  readonly signal: AbortSignal;
  readonly weights: WeightStore | null;
  /** Whether this run may record artifacts (false for a graph run as a function: no checkpoint files). */
  readonly recordsArtifacts: boolean;

  /** Text for the node's log and the run's console. */
  log(text: string): void;
  /** A progress frame (free object; training loops: `event` config, epoch or batch). */
  progress(frame: Readonly<Record<string, unknown>>): void;
  metric(name: string, value: number, step: number): void;
  artifact(kind: string, path: string, meta?: Readonly<Record<string, unknown>>): void;
  warn(warning: WarningPayload): void;
  /** Something to show besides ports: an image, a chart. */
  output(entry: OutputEntry): void;
  step(step: TraceStep): void;
  /** Resolves when reports are below their high-water mark. Loops await it once per batch. */
  drained(): Promise<void>;
  /** Runs an installed preset as a function: its first exposed input and output. Fresh nodes, no persistence, no progress. */
  runPreset(name: string, input: PortValue, index: number): Promise<PortValue>;
}

/** What a node returns: port -> value. `interrupted` says that it stopped early at a safe point. */
export interface NodeResult {
  readonly outputs: Readonly<Record<string, PortValue>>;
  readonly interrupted?: Readonly<Record<string, unknown>>;
}

export type NodeInputs = Readonly<Record<string, PortValue | undefined>>;

/** A node type: what is published, and what it does. */
export interface NodeType {
  readonly definition: NodeDefinition;
  /** Whether equal type, params, files and inputs give equal outputs, so that a canvas session may re-use them. */
  readonly cacheable: boolean;
  readonly needs?: NodeNeeds;
  /** Whether the node owns weights (a layer node). */
  readonly ownsWeights?: boolean;
  /** Whether the type starts a backward pass (BackwardOnce). */
  readonly startsBackward?: boolean;
  /** Ports that depend on params; default: the definition's. */
  inputsFor?(params: Params): readonly PortDefinition[];
  outputsFor?(params: Params): readonly PortDefinition[];
  /** Problems of the params that bounds alone cannot express (layer specs, contracts). */
  check?(params: Params, nodeId: string): readonly GraphIssue[];
  /** Absolute paths of the files the outputs depend on, for the cache's fingerprint. */
  files?(params: Params, folders: RunFolders): readonly string[];
  /** `params` have every default filled in. */
  execute(context: NodeContext, inputs: NodeInputs, params: Params): Promise<NodeResult> | NodeResult;
}

/** Node types by name; a snapshot that does not change during a run. */
export interface NodeRegistry {
  get(type: string): NodeType | undefined;
  names(): readonly string[];
  /** Types known by name only: specified, not available yet. */
  isReserved(type: string): boolean;
}

/** Installed presets by name. */
export interface PresetRegistry {
  get(name: string): import('@cdui/protocol').PresetDefinition | undefined;
  names(): readonly string[];
}

/** A module a node describes without building it (SequentialModel, layer nodes). */
export type ModuleFactory = (params: Params) => ModuleSpec;
