import type { NumberedFrameType } from '@cdui/protocol';
import { frameHead, MESSAGE_BATCH_BYTES } from '@cdui/protocol';
import type { LineBatch } from './world';

/** A frame that waits to be written. */
export interface PendingFrame {
  readonly seq: number;
  readonly head: string;
  /** Its JSON members in UTF-8, without the opening brace. */
  readonly members: Uint8Array;
}

const encoder = new TextEncoder();
const LINE_FEED = 0x0a;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;

export function pendingFrame(
  type: NumberedFrameType,
  runId: string,
  attempt: number,
  seq: number,
  members: Uint8Array,
): PendingFrame {
  return { seq, head: frameHead(type, runId, attempt, seq), members };
}

/** How many bytes of a line the frame becomes; its head has ASCII characters only. */
export function lineBytes({ head, members }: PendingFrame): number {
  return head.length + members.length + 1;
}

/** Joins frames to batches that make a message each. */
export function batchesOf(frames: readonly PendingFrame[]): readonly LineBatch[] {
  const batches: LineBatch[] = [];
  for (let first = 0; first < frames.length;) {
    let end = first;
    let bytes = 0;
    do bytes += lineBytes(frames[end++]!);
    while (end < frames.length && bytes + lineBytes(frames[end]!) <= MESSAGE_BATCH_BYTES);
    batches.push(batchOf(frames, first, end, bytes));
    first = end;
  }
  return batches;
}

function batchOf(frames: readonly PendingFrame[], first: number, end: number, size: number): LineBatch {
  const bytes = new Uint8Array(1 + size);
  let at = 1;
  for (let index = first; index < end; index++) {
    const { head, members } = frames[index]!;
    encoder.encodeInto(head, bytes.subarray(at));
    at += head.length;
    bytes.set(members, at);
    at += members.length;
    bytes[at++] = LINE_FEED;
  }
  return { bytes, lastSeq: frames[end - 1]!.seq };
}

/**
 * Makes a message of the lines, in place: one line is the message, several become an array. That is what the spare byte is for, and why
 * lines end with a line feed, which no JSON text has inside.
 */
export function messageOf({ bytes }: LineBatch): Uint8Array {
  const last = bytes.length - 1;
  let feed = bytes.indexOf(LINE_FEED, 1);
  if (feed === last) return bytes.subarray(1, last);
  for (; feed < last; feed = bytes.indexOf(LINE_FEED, feed + 1)) bytes[feed] = COMMA;
  bytes[0] = OPEN;
  bytes[last] = CLOSE;
  return bytes;
}
