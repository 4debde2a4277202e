import type { Clock, ConsoleFrame, DeviceFacts, HelloFrame, Random } from '@cdui/protocol';
import type { RunLauncher } from '../runner/launcher';

/** What the agent's protocol needs of the machine, so that it can be simulated whole. */
export interface AgentWorld {
  readonly clock: AgentClock;
  readonly random: Random;
  readonly dialer: Dialer;
  readonly spools: RunSpools;
  readonly launcher: RunLauncher;
  readonly consoles: Consoles;
  /** The devices that it offers, as they are now. */
  devices(): Promise<readonly DeviceFacts[]>;
  readonly log: AgentLog;
  /** How long runs go on without a connection until they are stopped; absent: for ever. In milliseconds. */
  readonly stopAfterSilenceMs?: number;
}

export interface AgentClock extends Clock {
  /** Milliseconds on a clock that never goes back and goes on while the machine sleeps, where there is one. */
  boottime(): number;
}

export interface AgentLog {
  info(message: string, details?: Readonly<Record<string, unknown>>): void;
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
}

/** What a `hello` says, besides what never changes. */
export type AgentFacts = Omit<HelloFrame, 'type' | 'protocol_version'>;

/** Opens connections to the control plane. */
export interface Dialer {
  /** Tries once. Whatever becomes of it is told to `events`, never before this returns; `ended` is the last of it and comes exactly once. */
  dial(events: ConnectionEvents): void;
}

export interface ConnectionEvents {
  opened(connection: Connection): void;
  /** A message of text came. */
  message(text: string): void;
  /** Bytes came, whatever they mean. */
  heard(): void;
  /** The answer to a ping. */
  ponged(ping: number): void;
  /** More may be sent, after `send` said no. */
  drained(): void;
  ended(end: ConnectionEnd): void;
}

/** How a connection ended, or why there was none. */
export interface ConnectionEnd {
  /** Of the WebSocket; null when the connection was never open. */
  readonly code: number | null;
  /** In English, for the log. */
  readonly reason: string;
}

export interface Connection {
  /** Sends a message of JSON text, in UTF-8 when it is bytes. @returns whether more may follow now */
  send(message: string | Uint8Array): boolean;
  /** Asks the other end for an answer to this number. */
  ping(ping: number): void;
  close(code: number, reason: string): void;
}

/** The folders of runs, each with the spool of the frames that are not durable elsewhere yet. */
export interface RunSpools {
  /** The folder that holds them, for people. */
  readonly root: string;
  /** What an earlier agent left, its process trees gone. */
  left(): Promise<readonly LeftRun[]>;
  /**
   * Makes an empty folder with an empty spool. What another attempt left there is removed.
   * @throws CodedError `disk_full` with `params.path` when there is no room; another one when it cannot be made
   */
  create(runId: string, attempt: number): Promise<Spool>;
  /** Whether there is room for another run. */
  hasRoom(): Promise<boolean>;
}

export interface LeftRun {
  readonly runId: string;
  readonly attempt: number;
  /** The newest frame up to which all are durable elsewhere, and the newest one of all; 0 when there is none. */
  readonly acknowledged: number;
  readonly lastSeq: number;
  /** Whether the newest is `run_finished`. */
  readonly finished: boolean;
  readonly spool: Spool;
}

/** The frames of one attempt, in order. One `append` at a time. */
export interface Spool {
  /**
   * Appends lines (see `lines.ts`), which are in the file when this resolves.
   * @throws CodedError `disk_full` with `params.path`, or another one; the spool is then as it was before
   */
  append(batches: readonly LineBatch[]): Promise<void>;
  /** Lines after that frame, about `maxBytes` of them, and one at least: it is there. */
  read(after: number, maxBytes: number): Promise<LineBatch>;
  /** Lines up to this frame are read no more. */
  acknowledged(seq: number): void;
  /** Removes the spool: every line is durable elsewhere. */
  remove(): Promise<void>;
}

/** Some lines of a spool, each a frame as JSON text with a line feed behind it. The first byte is spare: see `messageOf`. */
export interface LineBatch {
  readonly bytes: Uint8Array;
  readonly lastSeq: number;
}

/** Parts of what runs printed, for a control plane that asked for it. */
export interface Consoles {
  /** Sends from that byte on, until another is asked for, `stop` or the end of a run that is over. */
  follow(runId: string, attempt: number, offset: number): void;
  /** The connection can take something: `send` answers whether it can take more. */
  connect(send: (frame: ConsoleFrame) => boolean): void;
  /** Something was printed, perhaps; sends what there is. */
  look(): void;
  /** The run prints no more. @returns what resolves when all of it was sent, or cannot be now; undefined when nobody waits for it */
  over(runId: string): Promise<void> | undefined;
  /** The connection is gone; nothing is asked for any more. */
  disconnect(): void;
}
