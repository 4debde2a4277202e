import type { Clock, EventStore, Executor, Fingerprint, Ids, NodeRecord, RunStore } from '@cdui/execution';
import type { GraphFile, GraphSettings, RunFolders, SubmissionOptions } from '@cdui/protocol';
import type { LimitSettings } from '@cdui/scheduling';
import type { EventLog } from '../events/event-log';

/** A graph that may run, and what is stored of it. */
export interface PreparedGraph {
  /** The graph file as JSON text or its UTF-8, secret parameters blank. */
  readonly text: string | Uint8Array;
  readonly hadSecrets: boolean;
  /** A record for each node that will execute; null when not asked for. */
  readonly provenance: readonly NodeProvenance[] | null;
  /** Of all nodes that will execute; null for a run of this server, which knows them. */
  readonly nodeTypes: readonly string[] | null;
}

/** Where a node's code comes from. */
export interface NodeProvenance extends NodeRecord {
  readonly node_id: string;
  readonly type: string;
  /** sha256 of the canonical JSON of the type's definition. */
  readonly definition_hash: string;
  readonly source: 'builtin' | 'custom';
  /** The custom node file and its sha256; null for built-in types. */
  readonly file: string | null;
  readonly file_hash: string | null;
}

/** A submission that may run, without the graph itself: that stays in the form in which it is stored. */
export interface ReadSubmission extends PreparedGraph {
  readonly text: Uint8Array;
  readonly name: string;
  readonly options: SubmissionOptions;
  readonly settings: GraphSettings;
  /** The graph file as JSON in UTF-8, with its secrets. */
  readonly whole: Uint8Array;
}

/** Looks at graphs where the node types are known. */
export abstract class GraphDesk {
  /** @throws CodedError `invalid_graph` with `params.issues` when a run of it could not start */
  abstract prepare(graph: GraphFile, options: SubmissionOptions): Promise<PreparedGraph>;
  /**
   * Reads the body of a submission.
   *
   * @param body JSON in UTF-8, handed over
   * @throws what says that it is no JSON, or of another form; CodedError as `prepare`
   */
  abstract read(body: Uint8Array): Promise<ReadSubmission>;
}

/** The computer that the server runs on. */
export abstract class Machine {
  /** Devices that a runtime serves here, such as `cpu` and `cuda:0`. */
  abstract readonly devices: readonly string[];
  /** What a run's results may depend on, and its digest. */
  abstract fingerprint(runtime: unknown): Fingerprint;
  /** Device -> name of the physical card, the same for everybody who offers it. Asks the driver; never fails, and takes 2 s at most. */
  abstract cards(): Promise<Readonly<Record<string, string>>>;
}

/** A worker as those see it who place runs. */
export interface KnownWorker {
  readonly id: string;
  readonly online: boolean;
  readonly draining: boolean;
  readonly devices: readonly string[];
  readonly capabilities: readonly string[];
  /** Device -> name of the physical one, as far as it is known: the same for everybody who offers it. */
  readonly identities: Readonly<Record<string, string>>;
  /** Whether it runs on the server's own machine. */
  readonly sameHost: boolean;
  /** Whether it has every node type of this server, as this server has it. */
  readonly complete: boolean;
  /** Which of the node types it does not have as this server has them. */
  lacks(nodeTypes: readonly string[]): readonly string[];
}

/** The workers of this server, and what executes runs on them. */
export abstract class Workers {
  abstract readonly executor: Executor;
  abstract get(id: string): KnownWorker | null;
  /** All of them, those that are away included. */
  abstract list(): readonly KnownWorker[];
  /** @param listener is told each worker that changed, and whether it has just said hello: what it said before is over */
  abstract watch(listener: (worker: KnownWorker, hello: boolean) => void): void;
}

/** Files of runs. */
export abstract class RunFiles {
  abstract folders(runId: string): RunFolders;
  /** Removes what only this run's entry gave a meaning: captured outputs, periodic checkpoints, the console log. */
  abstract remove(runId: string): Promise<void>;
}

export interface RunLimits {
  readonly slots: LimitSettings;
  /** Canvas runs at a time. */
  readonly interactive: number;
  /** Ended runs that are kept; negative: all of them. */
  readonly keepLast: number;
  /** How long what a worker had is kept for it when it is away. In milliseconds. */
  readonly resumeGraceMs: number;
}

/** All that runs are given from outside; nothing else reaches them, so that a simulation can be all of it. */
export interface RunWorld {
  readonly store: RunStore;
  readonly events: EventStore;
  readonly log: EventLog;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly graphs: GraphDesk;
  readonly machine: Machine;
  readonly workers: Workers;
  readonly files: RunFiles;
  readonly limits: RunLimits;
  /** Tells whoever looks after the server what no request can be answered with. */
  readonly report: (what: string, error: unknown) => void;
}
