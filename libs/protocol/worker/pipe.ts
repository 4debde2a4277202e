import { CodedError } from '../errors';
import type { NumberedFrameType } from './frames';

/*
 * What a run's process writes to its agent: u32 length in little-endian order, u8 kind, then the members of the frame after `run_id`, `attempt` and
 * `seq` in UTF-8, without the opening brace. The length counts the kind and the members.
 */

/** Kinds in the order of their numbers, from 0. `ready`: the process can take a run; it is no frame and has no members. */
export const PIPE_KINDS = [
  'ready',
  'run_started',
  'event',
  'metrics',
  'artifact',
  'warning',
  'run_facts',
  'run_finished',
] as const satisfies readonly (NumberedFrameType | 'ready')[];
export type PipeKind = (typeof PIPE_KINDS)[number];

const HEAD_BYTES = 5;
/** Leaves room for the head within what the control plane reads. */
export const MAX_PIPE_FRAME_BYTES = 4 * 1024 * 1024;

const encoder = new TextEncoder();

/** @param value the frame's members; nothing for `ready`. @throws CodedError `frame_too_large` */
export function encodePipeFrame(kind: PipeKind, value: Readonly<Record<string, unknown>> = {}): Uint8Array {
  const text = kind === 'ready' ? '' : JSON.stringify(value).slice(1);
  // Mostly a letter is a byte; what has others is encoded once more, with the room that it needs.
  let frame: Uint8Array = new Uint8Array(HEAD_BYTES + text.length);
  const { read, written } = encoder.encodeInto(text, frame.subarray(HEAD_BYTES));
  if (read < text.length || written > MAX_PIPE_FRAME_BYTES) {
    const members = encoder.encode(text);
    if (members.length > MAX_PIPE_FRAME_BYTES) throw tooLarge(kind, members.length);
    frame = new Uint8Array(HEAD_BYTES + members.length);
    frame.set(members, HEAD_BYTES);
  }
  new DataView(frame.buffer).setUint32(0, frame.length - 4, true);
  frame[4] = PIPE_KINDS.indexOf(kind);
  return frame;
}

function tooLarge(kind: PipeKind, bytes: number): CodedError {
  const message = `A frame "${kind}" has ${bytes} bytes: at most ${MAX_PIPE_FRAME_BYTES} can be sent`;
  return new CodedError('frame_too_large', message, { kind, bytes });
}

/** Cuts what comes through a pipe into frames, wherever its chunks begin and end. */
export class PipeReader {
  private rest: Uint8Array = new Uint8Array(0);

  /**
   * @returns the frames that are complete; their members are views that stay valid
   * @throws CodedError `invalid_pipe_frame`: what comes first is no frame, and nothing after it can be read, now or later
   */
  push(chunk: Uint8Array): readonly { readonly kind: PipeKind; readonly members: Uint8Array }[] {
    const frames: { kind: PipeKind; members: Uint8Array }[] = [];
    const bytes = this.rest.length === 0 ? chunk : joined(this.rest, chunk);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    while (bytes.length - at >= HEAD_BYTES) {
      const length = view.getUint32(at, true);
      const kind = PIPE_KINDS[bytes[at + 4] ?? -1];
      if (length === 0 || length > 1 + MAX_PIPE_FRAME_BYTES || kind === undefined) {
        this.rest = bytes.subarray(at);
        // What came whole before it counts, wherever the chunks were cut: the next push meets it first.
        if (frames.length > 0) return frames;
        throw new CodedError('invalid_pipe_frame', `Kind ${bytes[at + 4]} with ${length} bytes is no frame of a run`);
      }
      const end = at + 4 + length;
      if (bytes.length < end) break;
      frames.push({ kind, members: bytes.subarray(at + HEAD_BYTES, end) });
      at = end;
    }
    this.rest = bytes.subarray(at);
    return frames;
  }

  /** Whether bytes are left that are no whole frame: at the end of the pipe, what came last was cut off or is none. */
  get broken(): boolean {
    return this.rest.length > 0;
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
