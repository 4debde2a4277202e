import { join } from 'node:path';
import { OomWatch } from '@cdui/host';
import type { AssignFrame, RunOutcome } from '@cdui/protocol';
import { KILL_AFTER_TERMINATE_S } from '@cdui/protocol';
import { removeCookie } from './cookie-file';
import type { ProcessEnd } from './ending';
import { madeOutcome, outcomeOfEnd, stoppedByAgent } from './ending';
import { FrameReader } from './frame-reader';
import type { LaunchedRun, StopAuthor } from './launcher';
import { tailOf } from './log-tail';
import type { RunOutlet } from './run-outlet';
import type { Exit, StartedProcess } from './started-process';
import { OUTPUT_LOG } from './started-process';

export interface RunProcessParts {
  readonly assignment: AssignFrame;
  readonly outlet: RunOutlet;
  /** The run's own. */
  readonly folder: string;
  /** Starts the process, or takes one that waits. May throw. */
  readonly start: () => StartedProcess;
  readonly killAfterTerminateMs?: number;
}

/** A process that reported the end of its run may take so long to end itself. */
const EXIT_MS = 10_000;

/** A run and its process, from the start to the end of the whole tree. */
export class RunProcess implements LaunchedRun {
  readonly over: Promise<void>;
  private readonly begun = performance.now();
  private readonly oom = new OomWatch();
  private process: StartedProcess | null = null;
  private stopping: { readonly by: StopAuthor; readonly seconds: number; readonly deadline: number } | null = null;
  private forced: ProcessEnd['forced'] = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: RunProcessParts) {
    this.over = this.execute();
  }

  stop(graceS: number, by: StopAuthor): void {
    const { process, stopping } = this;
    if (!process || process.ended) return;
    const deadline = performance.now() + graceS * 1000;
    const sooner = !stopping || deadline < stopping.deadline;
    this.stopping = {
      // Whoever else ends it: a run that somebody cancelled is cancelled.
      by: stopping?.by === 'cancel' ? 'cancel' : by,
      seconds: sooner ? graceS : stopping.seconds,
      deadline: sooner ? deadline : stopping.deadline,
    };
    if (!stopping) process.send({ type: 'cancel', reason: by === 'cancel' ? 'user' : 'shutdown' });
    if (sooner && !this.forced) this.after(graceS * 1000, () => this.force(process));
    else if (graceS === 0 && this.forced) this.kill(process);
  }

  private force(process: StartedProcess): void {
    const { by = 'cancel', seconds = 0 } = this.stopping ?? {};
    this.forced = { by, seconds };
    if (seconds === 0) {
      this.kill(process);
      return;
    }
    process.terminate();
    this.after(this.parts.killAfterTerminateMs ?? KILL_AFTER_TERMINATE_S * 1000, () => this.kill(process));
  }

  private kill(process: StartedProcess): void {
    clearTimeout(this.timer);
    void process.kill();
  }

  private async execute(): Promise<void> {
    const { assignment, outlet, folder } = this.parts;
    let process: StartedProcess;
    try {
      process = this.parts.start();
    } catch (error) {
      // Whoever launches it has it in hand before the first word about it.
      await Promise.resolve();
      this.finish(notStarted(error as NodeJS.ErrnoException, folder));
      return;
    }
    this.process = process;
    const reader = new FrameReader(process.frames, outlet);
    reader.onEnd = () => {
      if (reader.broken) this.kill(process);
      // Who stops it meanwhile may have it ended sooner.
      else if (!this.stopping) this.after(EXIT_MS, () => this.kill(process));
    };
    process.send({ type: 'start', assignment, folder, assignedAt: Date.now() });
    const exit = await process.exited;
    await process.kill();
    clearTimeout(this.timer);
    await reader.rest();
    this.finish(this.outcomeOf(exit, reader));
  }

  private outcomeOf(exit: Exit, { finished, broken }: FrameReader): Buffer | RunOutcome {
    const seconds = (performance.now() - this.begun) / 1000;
    if ('failed' in exit) return notStarted(exit.failed, this.parts.folder);
    if (broken) return madeOutcome('run_unreadable', {}, { seconds });
    const by = this.stopping?.by ?? 'cancel';
    if (finished) return by === 'cancel' ? finished : stopped(finished, by);
    const output = tailOf(join(this.parts.folder, OUTPUT_LOG));
    return outcomeOfEnd({ ...exit, forced: this.forced, oom: this.oom.rose(), output, seconds });
  }

  /** The last word about the run: nothing of its tree lives any more. */
  private finish(outcome: Buffer | RunOutcome): void {
    if (this.process) removeCookie(this.parts.folder, this.process.cookie);
    this.parts.outlet.frame('run_finished', Buffer.isBuffer(outcome) ? outcome : membersOf(outcome));
  }

  private after(ms: number, then: () => void): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(then, ms);
  }
}

/** Codes of the system for a disk that takes nothing. */
const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EROFS']);

function notStarted(error: NodeJS.ErrnoException, folder: string): RunOutcome {
  if (FULL.has(error.code)) return madeOutcome('disk_full', { path: folder }, {});
  return madeOutcome('run_not_started', { reason: error.message }, {});
}

function membersOf(outcome: RunOutcome): Buffer {
  return Buffer.from(JSON.stringify({ outcome }).slice(1));
}

function stopped(members: Buffer, by: Exclude<StopAuthor, 'cancel'>): Buffer {
  const { outcome } = JSON.parse(`{${members.toString('utf8')}`) as { readonly outcome: RunOutcome };
  return membersOf(stoppedByAgent(outcome, by));
}
