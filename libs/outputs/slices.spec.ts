import { CodedError } from '@cdui/protocol';
import fc from 'fast-check';
import { parseSlice } from './slices';

/** The indexes that Python's `range(size)[start:stop:step]` holds, found by looking at every one. */
function pythonRange(size: number, start: number | null, stop: number | null, step: number): number[] {
  const from = (bound: number): number => (bound < 0 ? bound + size : bound);
  const found: number[] = [];
  for (
    let at = start === null ? (step > 0 ? 0 : size - 1) : clamp(from(start), step);
    step > 0 ? at < end() : at > end();
    at += step
  ) {
    found.push(at);
  }
  return found;

  function clamp(bound: number, direction: number): number {
    return direction > 0 ? Math.min(Math.max(bound, 0), size) : Math.min(Math.max(bound, -1), size - 1);
  }
  function end(): number {
    if (stop === null) return step > 0 ? size : -1;
    return clamp(from(stop), step);
  }
}

describe('parseSlice', () => {
  it.each([
    ['', [2, 3], [2, 3]],
    ['0', [2, 3], [3]],
    ['-1, 1:', [2, 3], [2]],
    [':,::2', [2, 3], [2, 2]],
    ['...,0', [2, 3, 4], [2, 3]],
    ['0,...', [2, 3, 4], [3, 4]],
    ['0,1,2', [2, 3, 4], []],
    ['::-1', [4], [4]],
    ['5:', [4], [0]],
    ['-100:100', [4], [4]],
    ['', [], []],
    ['...', [], []],
    [':', [0], [0]],
  ])('of %j on %j selects the shape %j', (text, shape, selected) => {
    expect(parseSlice(text, shape).shape).toEqual(selected);
  });

  it('takes of each axis what Python takes', () => {
    const bound = fc.option(fc.integer({ min: -8, max: 8 }), { nil: null });
    const step = fc.integer({ min: -4, max: 4 }).filter((value) => value !== 0);
    fc.assert(
      fc.property(fc.nat(6), bound, bound, step, (size, start, stop, by) => {
        const [axis] = parseSlice(`${start ?? ''}:${stop ?? ''}:${by}`, [size]).axes;
        const found = Array.from({ length: axis!.count }, (_, index) => axis!.start + index * axis!.step);
        expect(found).toEqual(pythonRange(size, start, stop, by));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['x', [4], /"x" is neither an index nor a range/],
    ['1,2', [4], /names 2 axes, the tensor \[4\] has 1/],
    ['4', [4], /index 4 is outside of axis 0, which has 4/],
    ['-5', [4], /index -5 is outside/],
    ['::0', [4], /step of "::0" is 0/],
    ['1:2:3:4', [4], /more than start, stop and step/],
    ['1.5', [4], /neither/],
    ['1:b', [4], /"b" in "1:b" is not a whole number/],
    ['...,...', [4, 4], /more than one/],
    [',', [4, 4], /"" is neither/],
    ['0', [], /names 1 axes, the tensor \[\] has 0/],
    ['99999999999999999999', [4], /neither/],
  ])('refuses %j on %j and says what is wrong', (text, shape, message) => {
    expect(() => parseSlice(text, shape)).toThrow(
      expect.objectContaining({ code: 'invalid_slice', message: expect.stringMatching(message) }),
    );
  });

  it('throws nothing but coded errors, whatever it is given', () => {
    const part = fc.oneof(fc.string(), fc.constantFrom(':', '...', '::', '-1', '0', '1:', '1e3', '0x1'));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), fc.array(fc.nat(5), { maxLength: 3 }), (parts, shape) => {
        try {
          const { axes, elements } = parseSlice(parts.join(','), shape);
          expect(elements).toBeLessThanOrEqual(shape.reduce((product, size) => product * size, 1));
          for (const [at, { start, step, count }] of axes.entries()) {
            for (const place of count > 0 ? [start, start + (count - 1) * step] : []) {
              expect(place).toBeGreaterThanOrEqual(0);
              expect(place).toBeLessThan(shape[at]!);
            }
          }
        } catch (error) {
          if (!(error instanceof CodedError)) throw error;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
