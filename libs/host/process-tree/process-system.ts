/** A process, and not merely its number: numbers are given out again. */
export interface ProcessRef {
  readonly pid: number;
  /** When it started, as `processStart` says it; the empty text is no process at all. */
  readonly startTime: string;
}

export interface ProcessEntry extends ProcessRef {
  readonly parent: number;
  /** Number of its process group; 0 where there are none. */
  readonly group: number;
  /** Ended, and waits for its parent to notice: it holds nothing any more and no signal reaches it. */
  readonly ended: boolean;
}

/** What the kernel shows of processes and does to them. All of it is synchronous: a list that is read over several turns is older than its last line. */
export interface ProcessSystem {
  /** This process. */
  readonly self: number;
  scan(): ReadonlyMap<number, ProcessEntry>;
  /** Null when there is none of that number. */
  entry(pid: number): ProcessEntry | null;
  /** The `CODEFYUI_RUN_COOKIE` that it was started with; null without one, and where it may not be looked at. */
  cookie(pid: number): string | null;
  /** To one process, or to a group by its negative number; to one that is gone or not ours it does nothing. */
  signal(pid: number, signal: NodeJS.Signals): void;
  /** Children of a process, those that it adopted included: far quicker than a scan where the kernel keeps a list of them. */
  children(pid: number): readonly number[];
  /** Takes note of the end of a child that this process adopted; false when it has not ended, or is no child of ours. */
  reap(pid: number): boolean;
}

/** The variable that marks every process of a run: children inherit it, and nothing that they do later hides it. */
export const RUN_COOKIE_VARIABLE = 'CODEFYUI_RUN_COOKIE';

/** What was done since the program started; a benchmark reads them. */
export const processTreeCounters = {
  /** Readings of the whole process list. */
  scans: 0,
  /** Rounds of killing. */
  rounds: 0,
  signals: 0,
  reaped: 0,
};

/** Sends a signal; to none that is gone or not ours, and none that the system does not know. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
    processTreeCounters.signals++;
  } catch {
    // It is gone (ESRCH), somebody else's (EPERM), or there are no such signals (Windows).
  }
}
