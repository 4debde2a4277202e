import type { GraphFile, Reason, RunFolders, RunOptions, RunOutcome, StopReason } from '@cdui/protocol';
import type { RunSinks } from './sinks';
import type { Fingerprint, NodeRecord } from './stores';

/** The scheduler's answer: where a run executes and what it holds there. */
export interface Placement {
  /** `local` or a worker's id. */
  readonly worker: string;
  readonly devices: readonly string[];
  readonly slots: readonly { readonly worker: string; readonly device: string }[];
  /** Device -> name of the physical one that the run got, as far as it was known. */
  readonly identities?: Readonly<Record<string, string>>;
}

/** What an executor elsewhere is told of a run, and tells about it besides its reports. */
export interface RunPlace {
  /** From 1; higher when the run returned to the queue in between. */
  readonly attempt: number;
  /** All that the sinks were given so far stands for the far side's frames up to this one. */
  covered(seq: number): void;
  /** Is told the newest frame all of which is durable; the last one when the run's end is. */
  onDurable(listener: (seq: number) => void): void;
  /** Is told when nobody waits for the run any more, also when it was asked to stop before: a signal aborts only once. */
  onLost(listener: () => void): void;
  /** The outcome that will be returned is that of this frame. */
  endedAt(seq: number): void;
  /** The connection was lost, or is back. The run goes on there. */
  disconnected(reason: Reason): void;
  reconnected(): void;
  /** The run is given up: `onLost` follows. */
  graceOver(reason: Reason): void;
  addFacts(facts: Readonly<Record<string, unknown>>, fingerprint?: Fingerprint): void;
  addProvenance(record: NodeRecord): void;
}

export type ExecutionRequest =
  | {
      readonly kind: 'start';
      readonly runId: string;
      readonly graph: GraphFile;
      readonly options: RunOptions;
      readonly placement: Placement;
      /** Of all nodes that will execute; absent for a run of this server. */
      readonly nodeTypes?: readonly string[];
      /** Whether it is recorded where the code of its nodes comes from: by the executor, when it executes elsewhere. */
      readonly provenance?: boolean;
      readonly folders: RunFolders;
      readonly inputs?: Readonly<Record<string, unknown>>;
      readonly sinks: RunSinks;
      /** Aborted with a `StopReason` as its reason. */
      readonly signal: AbortSignal;
      /** For those who execute it elsewhere. */
      readonly place?: RunPlace;
    }
  | {
      readonly kind: 'adopt';
      readonly runId: string;
      readonly placement: Placement;
      /** The newest frame that was stored before. */
      readonly recordedSeq: number;
      readonly sinks: RunSinks;
      readonly signal: AbortSignal;
      readonly place: RunPlace;
    };

export interface ExecutionOutcome extends Omit<RunOutcome, 'reason'> {
  readonly reason: Reason | null;
  readonly facts: Readonly<Record<string, unknown>> | null;
}

/** The run never began there: it may wait for its turn again. */
export interface RunReturned {
  readonly status: 'returned';
  readonly reason: Reason;
  /** Whether its worker may still be about to start it: it was told to, and never answered. */
  readonly unanswered: boolean;
}

/** Executes one run's graph and reports how it ended. Never rejects for what the graph does; rejects for a defect only. */
export interface Executor {
  run(request: ExecutionRequest): Promise<ExecutionOutcome | RunReturned>;
}

export type { StopReason };
