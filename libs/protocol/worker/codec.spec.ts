import * as fc from 'fast-check';
import { times } from '../../../testing/long';
import { AGENT_FRAME_EXAMPLES } from './examples';
import type { NumberedFrameType } from './index';
import { checkAgentFrame, frameHead, PIPE_KINDS, readFrameHead, readMessage } from './index';

const kinds = PIPE_KINDS.filter((kind): kind is NumberedFrameType => kind !== 'ready');
const runId = fc.stringMatching(/^[\w-]{1,64}$/);
const count = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

describe('a message', () => {
  it('is a frame, or several, whatever they are', () => {
    const frame = fc.jsonValue().filter((value) => !Array.isArray(value));
    const roundTrip = fc.property(fc.array(frame), (frames) => {
      const plain: unknown = JSON.parse(JSON.stringify(frames));
      expect(readMessage(JSON.stringify(frames))).toEqual(plain);
      for (const one of plain as unknown[]) expect(readMessage(JSON.stringify(one))).toEqual([one]);
    });
    fc.assert(roundTrip, { numRuns: times(200, 20_000) });
  });

  it.each(['', '{', '{"type":"ack"}{"type":"ack"}', 'NaN', "{'type':'ack'}", '\u0000', '['.repeat(100_000)])(
    'that is no JSON is refused in a few words: %#',
    (text) => {
      const refused = expect.objectContaining({
        code: 'invalid_message',
        message: expect.stringMatching(/^.{1,300}$/s),
      });
      expect(() => readMessage(text)).toThrow(refused);
    },
  );

  it('may be nested as deep as it likes: the frames in it are refused, one by one', () => {
    const frames = readMessage('['.repeat(100_000) + ']'.repeat(100_000));
    expect(frames).toHaveLength(1);
    expect(() => checkAgentFrame(frames[0])).toThrow(expect.objectContaining({ code: 'invalid_frame' }));
  });
});

describe('the head of a numbered frame', () => {
  it('and the members that follow make the frame', () => {
    const made = fc.property(fc.constantFrom(...kinds), runId, count, count, (kind, run_id, attempt, seq) => {
      const { type, run_id: _run, attempt: _attempt, seq: _seq, ...members } = AGENT_FRAME_EXAMPLES[kind];
      const line = frameHead(kind, run_id, attempt, seq) + JSON.stringify(members).slice(1);
      const frame: unknown = JSON.parse(line);
      expect(frame).toEqual({ type, run_id, attempt, seq, ...members });
      expect(checkAgentFrame(frame)).toBe(frame);
    });
    fc.assert(made, { numRuns: times(200, 20_000) });
  });

  it('is read back from a line without parsing it', () => {
    const back = fc.property(
      ...([fc.constantFrom(...kinds), runId, count, count, fc.string()] as const),
      (type, id, attempt, seq, rest) => {
        expect(readFrameHead(frameHead(type, id, attempt, seq) + rest)).toEqual({ type, runId: id, attempt, seq });
      },
    );
    fc.assert(back, { numRuns: times(200, 20_000) });
  });

  it('is not seen in a line that was cut off within it, nor in anything else', () => {
    const head = frameHead('run_started', 'r-1', 12, 345);
    const cuts = Array.from(head, (_char, end) => head.slice(0, end));
    for (const line of [...cuts, ` ${head}`, `x${head}`, head.replace('r-1', 'r/1'), head.replace('12', '-1')]) {
      expect(readFrameHead(line)).toBeNull();
    }
  });
});
