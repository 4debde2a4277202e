import * as fc from 'fast-check';
import { LogLines } from './log-lines';

it('makes the same lines of a log, however it is cut', () => {
  const text = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { maxLength: 8 }).map((all) => all.join('\n'));
  fc.assert(
    fc.property(text, fc.array(fc.nat({ max: 9 }), { maxLength: 20 }), (printed, cuts) => {
      const bytes = Buffer.from(printed);
      const lines = new LogLines();
      const all = [];
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        all.push(...lines.add(bytes.subarray(at, at + cut), at));
        at = Math.min(bytes.length, at + cut);
      }
      all.push(...lines.end());
      const whole = bytes.toString('utf8').split('\n');
      if (whole.at(-1) === '') whole.pop();
      expect(all.map(({ text: line }) => line)).toEqual(whole);
      for (const { offset, text: line } of all) {
        expect(bytes.subarray(offset, offset + Buffer.byteLength(line)).toString('utf8')).toBe(line);
      }
    }),
  );
});

it('does not join what was printed before a gap to what came after it', () => {
  const lines = new LogLines();
  expect(lines.add(Buffer.from('one\ntw'), 0)).toEqual([{ offset: 0, text: 'one' }]);
  expect(lines.add(Buffer.from('ten\n'), 100)).toEqual([
    { offset: 4, text: 'tw' },
    { offset: 100, text: 'ten' },
  ]);
});
