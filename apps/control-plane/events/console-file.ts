import { constants } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openPlain } from '@cdui/host';

/** A file of a log: the bytes from `offset` on, the first of them on this line (from 1). */
export interface Segment {
  readonly path: string;
  readonly offset: number;
  readonly line: number;
  size: number;
}

/** Bytes of a log with the place they have in it. */
export interface Piece {
  readonly offset: number;
  readonly line: number;
  readonly bytes: Buffer;
}

/** Shares of the whole: the beginning that stays, and one file of the end, of which the oldest go. */
const HEAD_SHARE = 4;
const TAIL_SHARE = 8;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/**
 * The files of one run's console log: `<run id>.log` holds its beginning, `<run id>.log.<offset>.<line>` what came later. Beyond the bound the
 * oldest of the later files go. Nothing is flushed to the disk by force: it is what a terminal would have shown, no more.
 */
export class ConsoleFile {
  private segments: Segment[] | null = null;

  constructor(
    private readonly folder: string,
    private readonly runId: string,
    private readonly maxBytes: number,
  ) {}

  /** The files in order. */
  async list(): Promise<readonly Segment[]> {
    this.segments ??= await this.find();
    return this.segments;
  }

  /** Adds pieces, which come in the order of their offsets; one that does not follow on the one before begins a file of its own. */
  async write(pieces: readonly Piece[]): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const segments = (await this.list()) as Segment[];
    for (const piece of pieces) {
      for (let rest: Piece | null = piece; rest !== null;) rest = await this.writeSome(segments, rest);
    }
    await this.dropOldest(segments);
  }

  async remove(): Promise<void> {
    for (const { path } of await this.find()) await rm(path, { force: true });
    this.segments = null;
  }

  /** Writes what has room in the current file. @returns what has none */
  private async writeSome(segments: Segment[], piece: Piece): Promise<Piece | null> {
    let segment = segments.at(-1);
    let cut = 0;
    if (segment && segment.offset + segment.size === piece.offset) {
      cut = cutAt(piece.bytes, this.roomOf(segments) - segment.size, segment.size > 0);
    }
    if (!segment || cut === 0) {
      segment = { path: this.pathOf(piece), offset: piece.offset, line: piece.line, size: 0 };
      segments.push(segment);
      cut = cutAt(piece.bytes, this.roomOf(segments), false);
    }
    const bytes = piece.bytes.subarray(0, cut);
    const file = await openPlain(segment.path, APPEND);
    try {
      await file.appendFile(bytes);
    } finally {
      await file.close();
    }
    segment.size += bytes.length;
    if (cut === piece.bytes.length) return null;
    return { offset: piece.offset + cut, line: piece.line + lineEnds(bytes), bytes: piece.bytes.subarray(cut) };
  }

  private roomOf(segments: readonly Segment[]): number {
    return Math.ceil(this.maxBytes / (segments.length === 1 ? HEAD_SHARE : TAIL_SHARE));
  }

  private async dropOldest(segments: Segment[]): Promise<void> {
    let total = segments.reduce((sum, { size }) => sum + size, 0);
    while (total > this.maxBytes && segments.length > 2) {
      const [oldest] = segments.splice(1, 1);
      total -= oldest!.size;
      await rm(oldest!.path, { force: true });
    }
  }

  private pathOf({ offset, line }: Piece): string {
    const first = join(this.folder, `${this.runId}.log`);
    return offset === 0 ? first : `${first}.${offset}.${line}`;
  }

  private async find(): Promise<Segment[]> {
    const entries = await readdir(this.folder, { withFileTypes: true }).catch(() => []);
    const found: Segment[] = [];
    for (const entry of entries) {
      const { name } = entry;
      const match =
        name.startsWith(`${this.runId}.log`) && /^(?:\.(\d+)\.(\d+))?$/.exec(name.slice(this.runId.length + 4));
      // A folder, a link or a pipe of that name is nothing that a run printed.
      if (!match || !entry.isFile()) continue;
      const path = join(this.folder, name);
      found.push({ path, offset: Number(match[1] ?? 0), line: Number(match[2] ?? 1), size: await sizeOf(path) });
    }
    return found.sort((a, b) => a.offset - b.offset);
  }
}

/**
 * Where to cut bytes of text so that about `room` of them come first: after a line if there is one, else, unless none is an answer, inside the
 * line, but never inside a character.
 */
function cutAt(bytes: Buffer, room: number, noneIsFine: boolean): number {
  if (bytes.length <= room) return bytes.length;
  const afterLine = room > 0 ? bytes.lastIndexOf(10, room - 1) + 1 : 0;
  if (afterLine > 0 || noneIsFine) return afterLine;
  // A character has at most four bytes.
  let cut = Math.max(room, 4);
  while (cut < bytes.length && (bytes[cut]! & 0xc0) === 0x80) cut += 1;
  return Math.min(cut, bytes.length);
}

/** How many lines end in these bytes. */
export function lineEnds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}

async function sizeOf(path: string): Promise<number> {
  const file = await openPlain(path);
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}
