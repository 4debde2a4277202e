import * as fc from 'fast-check';
import { byteRange } from './byte-range';

describe('byteRange', () => {
  it.each([
    ['bytes=0-4', { start: 0, end: 5 }],
    ['bytes=5-', { start: 5, end: 10 }],
    ['bytes=-3', { start: 7, end: 10 }],
    ['bytes=-30', { start: 0, end: 10 }],
    ['BYTES = 2-99', { start: 2, end: 10 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=99999999999999999999-', 'unsatisfiable'],
    ['bytes=4-3', null],
    ['bytes=0-1,4-5', null],
    ['items=0-1', null],
    ['bytes=-', null],
    ['bytes=a-b', null],
    [undefined, null],
  ])('reads %s', (header, range) => {
    expect(byteRange(header, 10)).toEqual(range);
  });

  it('never leaves the resource, whatever the header says', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.nat(), fc.nat({ max: 1000 }), (text, first, last, size) => {
        for (const header of [text, `bytes=${text}`, `bytes=${first}-${last}`, `bytes=${first}-`, `bytes=-${last}`]) {
          const range = byteRange(header, size);
          if (range === null || range === 'unsatisfiable') continue;
          expect(range.start).toBeGreaterThanOrEqual(0);
          expect(range.start).toBeLessThan(range.end);
          expect(range.end).toBeLessThanOrEqual(size);
        }
      }),
    );
  });
});
