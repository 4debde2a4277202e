import type { EventPage, RunSinks, StoredEvent } from '@cdui/execution';
import type { Reason, TerminalEvent, WarningPayload } from '@cdui/protocol';

/** What the log of a run needs to know of it. */
export interface LoggedRun {
  readonly runId: string;
  /** When it was placed, on the server's clock. Events are stamped with when its graph began and their `atMs`, never decreasing and never in the future. */
  readonly startedAt: number;
  /** What it reports cannot be stored: said once, with the system's reason; everything after it is dropped. */
  readonly onFailed: (reason: Reason) => void;
  /** When its graph began to execute, when that was before this program started. Milliseconds since the epoch. */
  readonly beganAt?: number;
  /** Whoever executes it began, at that time: the sinks' `started()`. */
  readonly onStarted: (beganAt: number) => void;
  /** A worker's frames up to this one are durable: see `cover`. */
  readonly onRecorded?: (seq: number) => void;
}

/** Takes in what a run reports and makes it durable, in order. `drained()` resolves when what was reported is committed or far below the mark. */
export interface RunRecorder extends RunSinks {
  /** Stores `execution_start`. */
  recordStart(): void;
  /** A warning of the server's own. */
  recordWarning(warning: WarningPayload): void;
  /** All that was reported so far stands for a worker's frames up to this one, which is stored in the same commit. */
  cover(seq: number): void;
  /** Resolves when all that was reported so far, a half-full batch of metrics included, is durable or has failed. Takes nothing after it. */
  close(): Promise<void>;
}

/**
 * The logs of runs: what they report becomes durable here, and whoever reads one reads here. REST and sockets are views over it, and nothing is
 * shown that is not stored.
 */
export abstract class EventLog {
  /** Events made durable since this program started. */
  recorded = 0;

  /** Begins to record a run; its cursors go on from the last one stored. */
  abstract open(run: LoggedRun): Promise<RunRecorder>;

  /** Makes known the last event of a run, which was stored with its row. Nothing follows it; waiting readers wake up. */
  abstract publishEnd(runId: string, cursor: number, event: TerminalEvent, at: number): void;

  /** Events after the cursor, at most `limit` and about `capBytes` of payload; recent ones come from memory. */
  abstract read(runId: string, after: number, limit: number, capBytes: number): Promise<EventPage>;

  /** The newest event's cursor; 0 when there is none. */
  abstract newest(runId: string): Promise<number>;

  /**
   * Resolves when there may be events after the cursor, when the run has no more to say, or after `ms`; rejects never, and at once when the
   * signal is or gets aborted. Costs the writer nothing but waking up the reader.
   */
  abstract wait(runId: string, after: number, ms: number, signal?: AbortSignal): Promise<void>;

  /** Resolves when all that was reported so far is durable or has failed. */
  abstract flush(): Promise<void>;

  /** Forgets what is in memory of a deleted run, and wakes up its readers. */
  abstract forget(runId: string): void;
}

export type { StoredEvent };
