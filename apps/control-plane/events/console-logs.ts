import type { LogMatch } from '@cdui/protocol';

/** A part of a console log. */
export interface LogPart {
  /** Where the first byte stands; later than asked for when the bytes asked for were dropped. */
  readonly offset: number;
  readonly bytes: Buffer;
  /** How much was printed so far, what was dropped included. */
  readonly size: number;
}

/** What runs print: bounded, with the beginning and the end kept. */
export abstract class ConsoleLogs {
  /** Never waits: written in the background. */
  abstract append(runId: string, text: string): void;
  /** Resolves when all that was appended is in the file. Wakes up whoever waits. */
  abstract close(runId: string): Promise<void>;
  /** Resolves when all that was appended to any log is in the files. */
  abstract flush(): Promise<void>;
  /** Empty when the run printed nothing from the offset on. */
  abstract read(runId: string, offset: number, limit: number): Promise<LogPart>;
  /** Resolves when there may be bytes beyond the offset, when the log is closed, or after `ms`; at once when the signal is or gets aborted. */
  abstract wait(runId: string, offset: number, ms: number, signal?: AbortSignal): Promise<void>;
  abstract search(
    runId: string,
    text: string,
    limit: number,
  ): Promise<{ readonly matches: readonly LogMatch[]; readonly truncated: boolean }>;
  abstract delete(runId: string): Promise<void>;
}
