import type { NumberedFrame, RunFrameHead, RunOutcome } from '@cdui/protocol';
import { resumeOf } from '../runs/resume';
import type { Worker } from './worker';
import type { WorkerWorld } from './world';

interface LastFrame extends RunFrameHead {
  /** Null when it cannot be understood. */
  readonly outcome: RunOutcome | null;
}

/** How long until it is looked again whether a run's end is stored. */
const AGAIN_MS = 2_000;

/** What workers say about runs that are not theirs, or not any more: ended, given to another, or never assigned. */
export class StrayRuns {
  /** Frames that were refused. */
  refused = 0;
  private readonly told = new Set<string>();

  constructor(private readonly world: WorkerWorld) {}

  /** The worker has the run, and nobody here waits for it. */
  cancel(worker: Worker, runId: string, attempt: number): void {
    const key = keyOf(worker, runId, attempt);
    if (!this.told.has(key)) {
      this.told.add(key);
      const message = `Worker ${worker.id} executes run ${runId}, which is not its own any more: it is told to end it`;
      this.world.log('warn', message, { worker: worker.id, run_id: runId, attempt });
    }
    worker.send({ type: 'cancel', run_id: runId, attempt, grace_s: 0 });
  }

  /** Refuses the frame; told once for each attempt. How it ended is kept aside, and let go. */
  frame(worker: Worker, frame: NumberedFrame): void {
    const { run_id: runId, attempt } = frame;
    this.refused += 1;
    const key = keyOf(worker, runId, attempt);
    if (frame.type !== 'run_finished') {
      if (!this.told.has(key)) this.cancel(worker, runId, attempt);
      return;
    }
    this.told.delete(key);
    void this.letGo(worker, frame);
  }

  /** Nobody knows what it says, and nobody needs it: it may have been the last that the agent keeps of the run. */
  brokenFrame(worker: Worker, runId: string, attempt: number, seq: number): void {
    this.refused += 1;
    void this.letGo(worker, { run_id: runId, attempt, seq, outcome: null });
  }

  /** Acknowledges it when nobody can need it any more. */
  private async letGo(worker: Worker, frame: LastFrame): Promise<void> {
    const { connection } = worker;
    const { run_id: runId, attempt, seq } = frame;
    try {
      if (await this.keepLate(worker.id, frame)) {
        worker.send({ type: 'ack', run_id: runId, attempt, seq });
        return;
      }
    } catch (error) {
      this.world.report(`The late result of run ${runId} could not be stored`, error);
    }
    // When the worker connects the next time it sends the frame again by itself.
    this.world.clock.after(AGAIN_MS, () => {
      if (connection !== null && worker.connection === connection) void this.letGo(worker, frame);
    });
  }

  /** Forgets what a worker was told: its next connection is told again. */
  forget(workerId: string): void {
    for (const key of this.told) if (key.startsWith(`${workerId}/`)) this.told.delete(key);
  }

  /** A result after the end is no event: it is a fact of the run, if the run was this worker's. @returns false while its end is not stored */
  private async keepLate(workerId: string, { run_id: runId, attempt, seq, outcome }: LastFrame): Promise<boolean> {
    const record = await this.world.store.get(runId);
    const resume = record && resumeOf(record);
    if (!record || resume?.placement.worker !== workerId || resume.attempt !== attempt) return true;
    if (record.status === 'queued') return true;
    if (record.finishedAt === null) return false;
    // Otherwise only its acknowledgement was lost.
    if (outcome !== null && seq > record.recordedSeq) await this.world.store.addFacts(runId, { late_result: outcome });
    return true;
  }
}

function keyOf({ id }: Worker, runId: string, attempt: number): string {
  return `${id}/${runId}/${attempt}`;
}
