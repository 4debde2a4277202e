import type { Clock } from '@cdui/execution';
import { openPlain } from '@cdui/host';
import { ConsoleFile, type Piece, type Segment, lineEnds } from './console-file';
import { ConsoleLogs, type LogPart } from './console-logs';
import { searchSegments } from './console-search';
import { Followers } from './followers';

/** Text that waits for a slow disk, per run. Beyond it the oldest goes: the log then has a gap, as when it is too long. */
const WAITING_BYTES = 8 * 1024 * 1024;
/** Of so many runs it is known that their logs are closed; a wait for an older one ends after its time. */
const KNOWN_CLOSED = 1024;
/** Ids become file names. */
const RUN_ID = /^[0-9A-Za-z_-]{1,64}$/;

interface OpenLog {
  readonly file: ConsoleFile;
  readonly followers: Followers;
  /** Where the files ended when this program began to add to them; null until it has looked. */
  base: Promise<{ readonly offset: number; readonly line: number }> | null;
  /** What was printed since then, with what is not written yet. */
  size: number;
  line: number;
  waiting: Piece[];
  waitingBytes: number;
  writing: Promise<void> | null;
}

/** Console logs in files: see `ConsoleFile`. */
export class FileConsoleLogs extends ConsoleLogs {
  private readonly logs = new Map<string, OpenLog>();
  private readonly closed = new Set<string>();

  constructor(
    private readonly folder: string,
    private readonly maxBytes: number,
    private readonly clock: Clock,
  ) {
    super();
  }

  append(runId: string, text: string): void {
    if (text === '' || !RUN_ID.test(runId)) return;
    this.closed.delete(runId);
    const log = this.logOf(runId);
    const bytes = Buffer.from(text, 'utf8');
    log.waiting.push({ offset: log.size, line: log.line, bytes });
    log.size += bytes.length;
    log.line += lineEnds(bytes);
    log.waitingBytes += bytes.length;
    while (log.waitingBytes > WAITING_BYTES && log.waiting.length > 1)
      log.waitingBytes -= log.waiting.shift()!.bytes.length;
    log.writing ??= this.writeOut(log);
  }

  async close(runId: string): Promise<void> {
    const log = this.logs.get(runId);
    this.closed.add(runId);
    if (this.closed.size > KNOWN_CLOSED) this.closed.delete(this.closed.values().next().value!);
    if (!log) return;
    while (log.writing) await log.writing;
    log.followers.wakeAll();
    if (this.logs.get(runId) === log && !log.writing) this.logs.delete(runId);
  }

  /** Resolves when all that was printed so far is in the files. */
  async flush(): Promise<void> {
    for (const log of this.logs.values()) while (log.writing) await log.writing;
  }

  async read(runId: string, offset: number, limit: number): Promise<LogPart> {
    const segments = await this.segmentsOf(runId);
    const size = endOf(segments);
    for (const segment of segments) {
      const end = segment.offset + segment.size;
      if (end <= offset) continue;
      const from = Math.max(offset, segment.offset);
      const bytes = await readBytes(segment, from, Math.min(limit, end - from));
      if (bytes) return { offset: from, bytes, size };
    }
    return { offset: Math.min(offset, size), bytes: Buffer.alloc(0), size };
  }

  async wait(runId: string, offset: number, ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || this.closed.has(runId) || !RUN_ID.test(runId)) return;
    const log = this.logOf(runId);
    const { over, end } = log.followers.wait(ms, signal);
    // Looked at after the wait began, so that nothing comes in between.
    void log.file.list().then(
      (segments) => endOf(segments) > offset && end(),
      () => end(),
    );
    await over;
    if (log.followers.count === 0 && log.size === 0 && this.logs.get(runId) === log) this.logs.delete(runId);
  }

  async search(runId: string, text: string, limit: number): ReturnType<ConsoleLogs['search']> {
    return searchSegments(await this.segmentsOf(runId), text, limit);
  }

  async delete(runId: string): Promise<void> {
    if (!RUN_ID.test(runId)) return;
    await this.close(runId);
    await new ConsoleFile(this.folder, runId, this.maxBytes).remove();
  }

  private logOf(runId: string): OpenLog {
    let log = this.logs.get(runId);
    if (!log) {
      const file = new ConsoleFile(this.folder, runId, this.maxBytes);
      log = {
        file,
        followers: new Followers(this.clock),
        base: null,
        size: 0,
        line: 0,
        waiting: [],
        waitingBytes: 0,
        writing: null,
      };
      this.logs.set(runId, log);
    }
    return log;
  }

  private async segmentsOf(runId: string): Promise<readonly Segment[]> {
    if (!RUN_ID.test(runId)) return [];
    // A snapshot: files grow while they are read.
    const file = this.logs.get(runId)?.file ?? new ConsoleFile(this.folder, runId, this.maxBytes);
    return (await file.list()).map((segment) => ({ ...segment }));
  }

  private async writeOut(log: OpenLog): Promise<void> {
    await Promise.resolve();
    while (log.waiting.length > 0) {
      const waiting = joined(log.waiting);
      log.waiting = [];
      log.waitingBytes = 0;
      // A log is worth no failed run: what a full disk does not take is missing in it.
      await this.writePieces(log, waiting).catch(() => undefined);
      log.followers.wake();
    }
    log.writing = null;
  }

  private async writePieces(log: OpenLog, pieces: readonly Piece[]): Promise<void> {
    const base = await (log.base ??= endOfFiles(log.file));
    await log.file.write(
      pieces.map(({ offset, line, bytes }) => ({ offset: base.offset + offset, line: base.line + line, bytes })),
    );
  }
}

/** The end of what an earlier program wrote: a run that goes on without a server is taken over by the next one. */
async function endOfFiles(file: ConsoleFile): Promise<{ readonly offset: number; readonly line: number }> {
  const last = (await file.list()).at(-1);
  if (!last) return { offset: 0, line: 1 };
  const bytes = await readBytes(last, last.offset, last.size);
  return { offset: last.offset + last.size, line: last.line + lineEnds(bytes ?? Buffer.alloc(0)) };
}

/** Pieces that follow on each other as one. */
function joined(pieces: readonly Piece[]): Piece[] {
  const groups: Piece[][] = [];
  let end = -1;
  for (const piece of pieces) {
    if (piece.offset === end) groups.at(-1)!.push(piece);
    else groups.push([piece]);
    end = piece.offset + piece.bytes.length;
  }
  return groups.map((group) => ({ ...group[0]!, bytes: Buffer.concat(group.map(({ bytes }) => bytes)) }));
}

function endOf(segments: readonly Segment[]): number {
  const last = segments.at(-1);
  return last ? last.offset + last.size : 0;
}

/** Null when the file was dropped in the meantime. */
async function readBytes({ path, offset }: Segment, from: number, length: number): Promise<Buffer | null> {
  const file = await openPlain(path).catch(() => null);
  if (!file) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from - offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
