import { open } from 'node:fs/promises';
import { readFrameHead } from '@cdui/protocol';
import type { Mark, SpoolState } from './file-spool';
import { HEADER_BYTES, readHeader } from './spool-header';

const CHUNK_BYTES = 1024 * 1024;
const MARK_BYTES = 64 * 1024;
/** No head is longer. */
const HEAD_BYTES = 256;
const LINE_FEED = 0x0a;

/** What an earlier process left in a spool. */
export interface Recovered extends SpoolState {
  readonly runId: string;
  readonly attempt: number;
  /** Whether the last line is a `run_finished`. */
  readonly finished: boolean;
}

/** Reads the file of a spool up to its last whole line; null when it is none, or not even its header was written. */
export async function recoverSpool(path: string): Promise<Recovered | null> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(HEADER_BYTES);
    await file.read(head, 0, HEADER_BYTES, 0);
    const header = readHeader(head);
    if (header === null) return null;
    const { run_id: runId, attempt, acknowledged } = header;
    const marks: Mark[] = [];
    let size = HEADER_BYTES;
    let seq: number | null = null;
    let finished = false;
    let chunk = Buffer.alloc(CHUNK_BYTES);
    read: for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, size);
      const bytes = chunk.subarray(0, bytesRead);
      let begin = 0;
      for (let feed; (feed = bytes.indexOf(LINE_FEED, begin)) >= 0; begin = feed + 1) {
        const line = readFrameHead(bytes.toString('latin1', begin, Math.min(feed, begin + HEAD_BYTES)));
        const fits = line?.runId === runId && line.attempt === attempt && (seq === null || line.seq === seq + 1);
        if (!fits || (seq === null && line.seq > acknowledged + 1)) {
          size += begin;
          break read;
        }
        const offset = size + begin;
        if (offset - (marks.at(-1)?.offset ?? -MARK_BYTES) >= MARK_BYTES) marks.push({ seq: line.seq, offset });
        seq = line.seq;
        finished = line.type === 'run_finished';
        if (finished) {
          size += feed + 1;
          break read;
        }
      }
      size += begin;
      if (begin > 0) continue;
      if (bytesRead < chunk.length) break;
      chunk = Buffer.alloc(2 * chunk.length);
    }
    return { runId, attempt, acknowledged, lastSeq: Math.max(seq ?? 0, acknowledged), size, marks, finished };
  } finally {
    await file.close();
  }
}
