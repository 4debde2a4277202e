import * as fc from 'fast-check';
import { times } from '../../../testing/long';
import type { PipeKind } from './index';
import { encodePipeFrame, MAX_PIPE_FRAME_BYTES, PIPE_KINDS, PipeReader } from './index';

interface Frame {
  readonly kind: PipeKind;
  readonly value: Readonly<Record<string, unknown>>;
}

const decoder = new TextDecoder('utf-8', { fatal: true });
const frame: fc.Arbitrary<Frame> = fc.record({
  kind: fc.constantFrom(...PIPE_KINDS),
  value: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 }),
});

/** What the reader must make of the frame. */
const membersOf = ({ kind, value }: Frame): string => (kind === 'ready' ? '' : JSON.stringify(value).slice(1));

function bytesOf(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.map(({ kind, value }) => encodePipeFrame(kind, value)));
}

/** The bytes in pieces that end where the cuts say; some of them are empty. */
function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end));
}

function read(chunks: readonly Uint8Array[]): { frames: { kind: PipeKind; members: string }[]; error: unknown } {
  const reader = new PipeReader();
  // They are looked at after everything was read: views must stay valid.
  const taken: { kind: PipeKind; members: Uint8Array }[] = [];
  let error: unknown = null;
  try {
    for (const chunk of chunks) taken.push(...reader.push(chunk));
  } catch (thrown) {
    error = thrown;
  }
  return { frames: taken.map(({ kind, members }) => ({ kind, members: decoder.decode(members) })), error };
}

/** A frame as it stands in the pipe, whatever it says of itself. */
function raw(length: number, kind: number, bytes = 0): Uint8Array {
  const head = Buffer.alloc(5 + bytes);
  head.writeUInt32LE(length);
  head[4] = kind;
  return head;
}

const invalid = expect.objectContaining({ code: 'invalid_pipe_frame' });

describe('the pipe of a run’s process', () => {
  it('gives the frames that were written, wherever its chunks begin and end', () => {
    const whole = fc.property(fc.array(frame), fc.array(fc.nat(), { maxLength: 40 }), (frames, cuts) => {
      const expected = frames.map((one) => ({ kind: one.kind, members: membersOf(one) }));
      expect(read(pieces(bytesOf(frames), cuts))).toEqual({ frames: expected, error: null });
    });
    fc.assert(whole, { numRuns: times(500, 50_000) });
  });

  it('gives them byte by byte as well, each as soon as it is complete', () => {
    const frames: Frame[] = [
      { kind: 'ready', value: {} },
      { kind: 'run_facts', value: { facts: { name: 'Ünïcödé 🙂' } } },
    ];
    const reader = new PipeReader();
    const lengths = frames.map((one) => bytesOf([one]).length);
    const ends = Array.from(bytesOf(frames), (byte) => reader.push(Uint8Array.of(byte)).length);
    expect(ends.flatMap((count, at) => (count > 0 ? [at + 1] : []))).toEqual([lengths[0], lengths[0]! + lengths[1]!]);
    expect(reader.broken).toBe(false);
  });

  it('knows when it ended within a frame', () => {
    const cut = fc.property(fc.array(frame, { minLength: 1 }), fc.nat(), (frames, at) => {
      const bytes = bytesOf(frames);
      const ends = frames.map((_one, index) => bytesOf(frames.slice(0, index + 1)).length);
      const end = at % bytes.length;
      const reader = new PipeReader();
      const complete = reader.push(bytes.subarray(0, end)).length;
      expect(complete).toBe(ends.filter((one) => one <= end).length);
      expect(reader.broken).toBe(end > 0 && !ends.includes(end));
    });
    fc.assert(cut, { numRuns: times(300, 30_000) });
  });

  it.each([
    ['a length of nothing', raw(0, 1)],
    ['a length beyond the largest', raw(MAX_PIPE_FRAME_BYTES + 2, 1)],
    ['the largest length there is', raw(0xffff_ffff, 1)],
    ['an unknown kind', raw(2, PIPE_KINDS.length)],
    ['the last kind there could be', raw(2, 255)],
    ['text where frames should be', Buffer.from('Segmentation fault\n')],
  ])('refuses %s at once, and whatever comes after it', (_what, bytes) => {
    const reader = new PipeReader();
    expect(() => reader.push(bytes)).toThrow(invalid);
    expect(() => reader.push(encodePipeFrame('ready'))).toThrow(invalid);
    expect(reader.broken).toBe(true);
  });

  it('gives what came whole before something that is no frame, wherever the chunks were cut', () => {
    const before = fc.property(fc.array(frame), fc.array(fc.nat(), { maxLength: 10 }), (frames, cuts) => {
      const bytes = Buffer.concat([bytesOf(frames), raw(0, 0)]);
      const { frames: taken, error } = read([...pieces(bytes, cuts), Uint8Array.of(0)]);
      expect(taken).toEqual(frames.map((one) => ({ kind: one.kind, members: membersOf(one) })));
      expect(error).toEqual(invalid);
    });
    fc.assert(before, { numRuns: times(300, 30_000) });
  });

  it('takes any bytes: frames, or the refusal, and nothing else', () => {
    const any = fc.property(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 5 }), (chunks) => {
      const reader = new PipeReader();
      try {
        for (const chunk of chunks) for (const { kind } of reader.push(chunk)) expect(PIPE_KINDS).toContain(kind);
      } catch (error) {
        expect(error).toEqual(invalid);
      }
    });
    fc.assert(any, { numRuns: times(2_000, 200_000) });
  });

  it('carries the largest frame, and refuses to write a larger one', () => {
    // {"text":"..."} without its opening brace.
    const fits = { text: 'x'.repeat(MAX_PIPE_FRAME_BYTES - '"text":""}'.length) };
    const bytes = encodePipeFrame('run_facts', fits);
    const [first] = new PipeReader().push(bytes);
    expect(first?.members.length).toBe(MAX_PIPE_FRAME_BYTES);
    const tooLarge = expect.objectContaining({
      code: 'frame_too_large',
      params: { kind: 'run_facts', bytes: MAX_PIPE_FRAME_BYTES + 1 },
    });
    expect(() => encodePipeFrame('run_facts', { text: `${fits.text}x` })).toThrow(tooLarge);
    // Bytes count, not characters.
    expect(() => encodePipeFrame('event', { text: 'ä'.repeat(MAX_PIPE_FRAME_BYTES / 2) })).toThrow(
      expect.objectContaining({ code: 'frame_too_large' }),
    );
  });
});
