import fc from 'fast-check';
import type { ControlMessage } from './control';
import { controlLine, ControlReader } from './control';

describe('ControlReader', () => {
  const message = fc.oneof(
    fc.constantFrom<ControlMessage>({ type: 'cancel', reason: 'user' }, { type: 'cancel', reason: 'shutdown' }),
    fc
      .string({ unit: 'grapheme-composite' })
      .map((folder) => ({ type: 'start', assignment: {}, folder }) as unknown as ControlMessage),
  );

  it('reads what was written, wherever the chunks end', () => {
    fc.assert(
      fc.property(fc.array(message), fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (messages, sizes) => {
        const bytes = Buffer.from(messages.map(controlLine).join(''));
        const reader = new ControlReader();
        const read: ControlMessage[] = [];
        for (let at = 0, index = 0; at < bytes.length; index += 1) {
          const size = sizes[index % sizes.length] ?? 1;
          read.push(...reader.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(read).toEqual(messages);
      }),
    );
  });

  it('keeps a message that is not complete for itself', () => {
    const reader = new ControlReader();
    expect(reader.push(Buffer.from('{"type":"cancel",'))).toEqual([]);
    expect(reader.push(Buffer.from('"reason":"user"}\n{'))).toEqual([{ type: 'cancel', reason: 'user' }]);
  });
});
