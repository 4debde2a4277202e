import type { NumberedFrameType, Reason } from '@cdui/protocol';
import { CodedError, MESSAGE_BATCH_BYTES, reasonOf } from '@cdui/protocol';
import type { LaunchedRun } from '../runner/launcher';
import type { RunOutlet } from '../runner/run-outlet';
import { batchesOf, lineBytes, messageOf, type PendingFrame, pendingFrame } from './lines';
import { finishedMembers, outcomeOf } from './outcome';
import type { LeftRun, LineBatch, Spool } from './world';

/** A run waits when so much of it is not in the file yet, or, while there is a connection, not sent. */
const HIGH_BYTES = 1024 * 1024;

/** The connection, as a run sees it. */
export interface Feed {
  /** Whether more may be sent now. */
  readonly flowing: boolean;
  send(message: Uint8Array): void;
}

/** What a run tells its owner. */
export interface RunOwner {
  /** Its frames cannot be kept: it must end. */
  failed(run: AgentRun, reason: Reason): void;
  /** Its process is gone. @returns what its last frame waits for, if anything */
  ending(run: AgentRun): Promise<void> | null;
  /** Its last frame is in the file. */
  finished(run: AgentRun): void;
}

/**
 * An attempt of a run on this agent: numbers its frames, appends them to the spool, and sends what is in the file. Nothing is sent before it was
 * written, so that what the control plane has seen is never missing here. What cannot be sent at once is read back from the file.
 */
export class AgentRun implements RunOutlet {
  /** Null when no process of this agent belongs to it. */
  launched: LaunchedRun | null = null;

  /** Numbers of the newest frame that was taken in, written, sent on this connection, and acknowledged. */
  private taken = 0;
  private written = 0;
  private sent = 0;
  private acked = 0;
  private finishedSeq: number | null = null;

  private pending: PendingFrame[] = [];
  private pendingBytes = 0;
  private writing = false;
  /** Bytes that were written since the connection could not take them. */
  private behindBytes = 0;
  private replaying = false;
  private feed: Feed | null = null;
  private lost: Reason | null = null;
  /** The last frame, when it could not be written. */
  private tail: PendingFrame | null = null;
  private abandoned = false;
  /** Whether its last frame came. */
  private ending = false;
  private readonly waiting: (() => void)[] = [];

  constructor(
    readonly runId: string,
    readonly attempt: number,
    private readonly spool: Spool,
    private readonly owner: RunOwner,
  ) {}

  /** The run of a spool that an earlier agent left. */
  static left({ runId, attempt, acknowledged, lastSeq, finished, spool }: LeftRun, owner: RunOwner): AgentRun {
    const run = new AgentRun(runId, attempt, spool, owner);
    run.acked = run.sent = acknowledged;
    run.taken = run.written = lastSeq;
    run.ending = finished;
    if (finished) run.finishedSeq = lastSeq;
    return run;
  }

  frame(type: NumberedFrameType, members: Uint8Array): boolean {
    if (this.abandoned || this.ending) return true;
    if (type === 'run_finished') {
      this.ending = true;
      const others = this.owner.ending(this);
      if (others) void others.then(() => this.take(type, members));
      else this.take(type, members);
    } else if (this.lost === null) this.take(type, members);
    return this.takesMore;
  }

  private take(type: NumberedFrameType, members: Uint8Array): void {
    if (this.abandoned) return;
    this.taken += 1;
    if (type === 'run_finished') this.finishedSeq = this.taken;
    if (this.lost !== null) return this.keepTail(finishedMembers(outcomeOf('failed', this.lost)));
    const frame = pendingFrame(type, this.runId, this.attempt, this.taken, members);
    this.pending.push(frame);
    this.pendingBytes += lineBytes(frame);
    if (!this.writing) {
      this.writing = true;
      void this.write();
    }
  }

  drained(): Promise<void> {
    return this.takesMore ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
  }

  /** From now on frames go there, those that are not acknowledged first. */
  connect(feed: Feed): void {
    this.feed = feed;
    this.sent = this.acked;
    this.behindBytes = 0;
    this.flow();
  }

  disconnect(): void {
    this.feed = null;
    this.behindBytes = 0;
    this.release();
  }

  /** The connection takes more. */
  flow(): void {
    if (!this.replaying && this.feed?.flowing) void this.replay();
  }

  acknowledge(seq: number): void {
    const acked = Math.min(seq, this.lastSeq);
    if (acked <= this.acked) return;
    this.acked = acked;
    this.sent = Math.max(this.sent, acked);
    this.spool.acknowledged(Math.min(acked, this.written));
  }

  /** The newest frame that will not be lost with this process. */
  get lastSeq(): number {
    return this.tail?.seq ?? this.written;
  }

  /** Whether a process of it may live, or its end is not kept yet. */
  get alive(): boolean {
    if (this.launched !== null) return true;
    return !this.abandoned && this.ending && (this.finishedSeq === null || this.lastSeq < this.finishedSeq);
  }

  /** Whether every frame, the last one included, is durable elsewhere. */
  get settled(): boolean {
    return this.finishedSeq !== null && this.acked >= this.finishedSeq;
  }

  /** Nobody wants its frames any more; more of them are let go. */
  abandon(): void {
    this.abandoned = true;
    this.feed = null;
    this.pending = [];
    this.pendingBytes = 0;
    this.release();
  }

  removeSpool(): Promise<void> {
    return this.spool.remove();
  }

  private get takesMore(): boolean {
    return this.abandoned || (this.pendingBytes < HIGH_BYTES && this.behindBytes < HIGH_BYTES);
  }

  private release(): void {
    if (this.takesMore) for (const resolve of this.waiting.splice(0)) resolve();
  }

  private async write(): Promise<void> {
    // What comes in the same turn is written together.
    await Promise.resolve();
    while (this.pending.length > 0) {
      const frames = this.pending;
      const bytes = this.pendingBytes;
      this.pending = [];
      const batches = batchesOf(frames);
      try {
        await this.spool.append(batches);
      } catch (error) {
        this.fail(error, frames);
        break;
      }
      if (this.abandoned) break;
      this.pendingBytes -= bytes;
      for (const batch of batches) this.sendWritten(batch);
      if (this.finishedSeq === this.written) this.owner.finished(this);
      this.release();
    }
    this.writing = false;
  }

  private sendWritten(batch: LineBatch): void {
    const inOrder = this.sent === this.written && !this.replaying;
    this.written = batch.lastSeq;
    if (this.feed === null) return;
    if (inOrder && this.feed.flowing) {
      this.sent = batch.lastSeq;
      this.feed.send(messageOf(batch));
      return;
    }
    this.behindBytes += batch.bytes.length;
    this.flow();
  }

  /** Sends from the file until nothing there is left. */
  private async replay(): Promise<void> {
    this.replaying = true;
    while (this.feed?.flowing && this.sent < this.written) {
      const { feed } = this;
      const batch = await this.read();
      if (batch === null || this.feed !== feed || batch.lastSeq <= this.sent) continue;
      this.sent = batch.lastSeq;
      feed.send(messageOf(batch));
    }
    this.replaying = false;
    if (this.sent < this.written) return;
    this.behindBytes = 0;
    this.release();
    this.sendTail();
  }

  private async read(): Promise<LineBatch | null> {
    try {
      return await this.spool.read(this.sent, MESSAGE_BATCH_BYTES);
    } catch (error) {
      // The control plane sees the gap, and says so in the run's log.
      const reason = reasonOf('storage_failed', { reason: (error as Error).message });
      const known = this.lost !== null;
      this.lost ??= reason;
      if (this.finishedSeq !== null && this.finishedSeq <= this.written) {
        this.written = this.sent = this.finishedSeq - 1;
        this.keepTail(finishedMembers(outcomeOf('failed', reason)));
      } else this.sent = this.written;
      if (!known) this.owner.failed(this, reason);
      return null;
    }
  }

  /** These frames, and all that follow, are lost, and their numbers are free again: they were never sent. */
  private fail(error: unknown, frames: readonly PendingFrame[]): void {
    this.pending = [];
    this.pendingBytes = 0;
    this.lost = lossOf(error);
    const last = frames.at(-1);
    const alone = frames.length === 1 && last?.seq === this.finishedSeq ? last : null;
    this.taken = this.written;
    if (this.finishedSeq !== null) {
      this.finishedSeq = this.taken += 1;
      this.keepTail(alone?.members ?? finishedMembers(outcomeOf('failed', this.lost)));
    }
    this.owner.failed(this, this.lost);
    this.release();
  }

  private keepTail(members: Uint8Array): void {
    this.tail = pendingFrame('run_finished', this.runId, this.attempt, this.finishedSeq!, members);
    this.owner.finished(this);
    this.sendTail();
  }

  private sendTail(): void {
    if (this.tail === null || this.replaying || !this.feed?.flowing || this.sent < this.written) return;
    if (this.sent >= this.tail.seq) return;
    this.sent = this.tail.seq;
    for (const batch of batchesOf([this.tail])) this.feed.send(messageOf(batch));
  }
}

function lossOf(error: unknown): Reason {
  const { message } = error as Error;
  return error instanceof CodedError && error.code === 'disk_full'
    ? reasonOf('disk_full', error.params)
    : reasonOf('storage_failed', { reason: message });
}
