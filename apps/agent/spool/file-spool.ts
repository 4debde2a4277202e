import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import type { LineBatch, Spool } from '../core/world';
import { diskError } from './disk-errors';
import { HEADER_BYTES, headerLine } from './spool-header';

const MIB = 1024 * 1024;
/** An acknowledged prefix of this size is dropped, once it is also the larger part: then no byte is copied more than twice. */
const DROP_BYTES = 8 * MIB;
const COPY_BYTES = MIB;
/** Where every so many bytes a line begins is remembered. */
const MARK_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;

/** Where the line of a frame begins. */
export interface Mark {
  readonly seq: number;
  readonly offset: number;
}

/** What is known of the file of a spool. */
export interface SpoolState {
  readonly acknowledged: number;
  readonly lastSeq: number;
  readonly size: number;
  /** Of lines in the file, in order; the first is that of the first line. */
  readonly marks: readonly Mark[];
}

/** How a folder makes room for others when a spool is gone. */
export type Removed = () => Promise<void>;

/**
 * The frames of one attempt in a file, a line each, after a header. Everything happens one after the other. What was written survives the end of this
 * process, however it ends; the system may still lose it when the machine loses its power.
 */
export class FileSpool implements Spool {
  private acked: number;
  private last: number;
  private size: number;
  private marks: Mark[];
  /** Where the read that comes next most likely begins. */
  private cursor: Mark | null = null;
  private turn: Promise<unknown> = Promise.resolve();
  private dropping = false;
  private removed = false;

  private constructor(
    readonly path: string,
    private file: FileHandle,
    private readonly runId: string,
    private readonly attempt: number,
    state: SpoolState,
    private readonly onRemoved: Removed,
  ) {
    this.acked = state.acknowledged;
    this.last = state.lastSeq;
    this.size = state.size;
    this.marks = [...state.marks];
  }

  /** @throws CodedError `disk_full`, `spool_failed` */
  static async create(path: string, runId: string, attempt: number, onRemoved: Removed): Promise<FileSpool> {
    try {
      const file = await open(path, 'wx+', 0o600);
      await file.write(headerLine({ run_id: runId, attempt, acknowledged: 0 }), 0, HEADER_BYTES, 0);
      const state = { acknowledged: 0, lastSeq: 0, size: HEADER_BYTES, marks: [] };
      return new FileSpool(path, file, runId, attempt, state, onRemoved);
    } catch (error) {
      throw diskError(error, path);
    }
  }

  /** Goes on with a file that is known. It is cut off behind its last whole line. */
  static async reopen(
    path: string,
    runId: string,
    attempt: number,
    state: SpoolState,
    onRemoved: Removed,
  ): Promise<FileSpool> {
    try {
      const file = await open(path, 'r+');
      await file.truncate(state.size);
      return new FileSpool(path, file, runId, attempt, state, onRemoved);
    } catch (error) {
      throw diskError(error, path);
    }
  }

  append(batches: readonly LineBatch[]): Promise<void> {
    return this.inTurn(async () => {
      const begin = this.size;
      try {
        await this.write(
          batches.map(({ bytes }) => bytes.subarray(1)),
          begin,
        );
      } catch (error) {
        // Whatever is there of it is no whole line, or one that nobody was told of.
        await this.file.truncate(begin).catch(() => undefined);
        throw diskError(error, this.path);
      }
      for (const { bytes, lastSeq } of batches) this.grow(bytes.length - 1, lastSeq);
    });
  }

  read(after: number, maxBytes: number): Promise<LineBatch> {
    return this.inTurn(async () => {
      const { offset } = await this.find(after + 1, maxBytes);
      for (let size = maxBytes; ; size *= 2) {
        const bytes = Buffer.allocUnsafe(1 + Math.min(size, this.size - offset));
        const { bytesRead } = await this.file.read(bytes, 1, bytes.length - 1, offset);
        const lines = bytes.subarray(0, 1 + bytesRead);
        const end = lines.lastIndexOf(LINE_FEED);
        if (end < 1) {
          if (offset + bytesRead >= this.size) throw new Error(`${this.path} has no frame ${after + 1}`);
          continue;
        }
        const whole = lines.subarray(0, end + 1);
        const lastSeq = after + linesIn(whole.subarray(1));
        this.cursor = { seq: lastSeq + 1, offset: offset + end };
        return { bytes: whole, lastSeq };
      }
    });
  }

  acknowledged(seq: number): void {
    this.acked = Math.max(this.acked, seq);
    if (this.dropping || this.removed) return;
    this.dropping = true;
    void this.inTurn(() => this.drop()).catch(() => {
      // The prefix stays for now; what is acknowledged is told again after a restart, and known there.
      this.dropping = false;
    });
  }

  remove(): Promise<void> {
    this.removed = true;
    return this.inTurn(async () => {
      await this.file.close();
      await rm(this.path, { force: true });
      await this.onRemoved();
    });
  }

  /** The system may take less than it is given, above all just before there is no room left. */
  private async write(parts: readonly Uint8Array[], at: number): Promise<void> {
    const { bytesWritten } = await this.file.writev(parts, at);
    const size = parts.reduce((sum, { length }) => sum + length, 0);
    if (bytesWritten === size) return;
    const rest = Buffer.concat(parts).subarray(bytesWritten);
    for (let done = 0; done < rest.length;) {
      done += (await this.file.write(rest, done, rest.length - done, at + bytesWritten + done)).bytesWritten;
    }
  }

  /** Leaves the file as it is, for whoever opens it next. */
  close(): Promise<void> {
    return this.inTurn(() => this.file.close());
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(work);
    this.turn = result.catch(() => undefined);
    return result;
  }

  private grow(bytes: number, lastSeq: number): void {
    const last = this.marks.at(-1);
    if (!last || this.size - last.offset >= MARK_BYTES) this.marks.push({ seq: this.last + 1, offset: this.size });
    this.size += bytes;
    this.last = lastSeq;
  }

  /** Where the line of a frame begins, from the nearest place that is known. */
  private async find(seq: number, maxBytes: number): Promise<Mark> {
    let { seq: at, offset } = this.before(seq);
    for (let size = maxBytes; at < seq;) {
      const bytes = Buffer.allocUnsafe(Math.min(size, this.size - offset));
      const { bytesRead } = await this.file.read(bytes, 0, bytes.length, offset);
      let begin = 0;
      for (let feed; at < seq && (feed = bytes.subarray(0, bytesRead).indexOf(LINE_FEED, begin)) >= 0; at++) {
        begin = feed + 1;
      }
      if (begin === 0 && offset + bytesRead >= this.size) throw new Error(`${this.path} has no frame ${seq}`);
      if (begin === 0) size *= 2;
      offset += begin;
    }
    return { seq, offset };
  }

  private before(seq: number): Mark {
    if (this.cursor?.seq === seq) return this.cursor;
    let [low, high] = [0, this.marks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.marks[middle]!.seq <= seq) low = middle + 1;
      else high = middle;
    }
    const mark = this.marks[low - 1];
    if (!mark) throw new Error(`${this.path} has no frame ${seq}`);
    return mark;
  }

  private async drop(): Promise<void> {
    this.dropping = false;
    if (this.removed) return;
    if (this.acked >= this.last) return this.empty();
    if (this.marks.length === 0) return;
    const from = this.marks.findLast(({ seq }) => seq <= this.acked + 1);
    const prefix = (from?.offset ?? HEADER_BYTES) - HEADER_BYTES;
    if (from && prefix > DROP_BYTES && prefix >= this.size - from.offset) await this.rewrite(from);
  }

  /** The header first: should the end come between the two, the lines are known to be left over. */
  private async empty(): Promise<void> {
    if (this.size === HEADER_BYTES) return;
    await this.file.write(this.header(), 0, HEADER_BYTES, 0);
    await this.file.truncate(HEADER_BYTES);
    this.size = HEADER_BYTES;
    this.marks = [];
    this.cursor = null;
  }

  private async rewrite(from: Mark): Promise<void> {
    const draft = `${this.path}.draft`;
    const file = await open(draft, 'w+', 0o600);
    try {
      await file.write(this.header(), 0, HEADER_BYTES, 0);
      let to = HEADER_BYTES;
      const bytes = Buffer.allocUnsafe(COPY_BYTES);
      for (let at = from.offset; at < this.size;) {
        const { bytesRead } = await this.file.read(bytes, 0, Math.min(bytes.length, this.size - at), at);
        for (let done = 0; done < bytesRead;) {
          const { bytesWritten } = await file.write(bytes, done, bytesRead - done, to);
          done += bytesWritten;
          to += bytesWritten;
        }
        at += bytesRead;
      }
      await rename(draft, this.path);
    } catch (error) {
      await file.close().catch(() => undefined);
      await rm(draft, { force: true }).catch(() => undefined);
      throw error;
    }
    const moved = from.offset - HEADER_BYTES;
    await this.file.close();
    this.file = file;
    this.size -= moved;
    this.marks = this.marks
      .filter(({ offset }) => offset >= from.offset)
      .map(({ seq, offset }) => ({ seq, offset: offset - moved }));
    this.cursor = null;
  }

  private header(): Buffer {
    return headerLine({ run_id: this.runId, attempt: this.attempt, acknowledged: this.acked });
  }
}

function linesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) count++;
  return count;
}
