import * as fc from 'fast-check';
import { CodedError } from '@cdui/protocol';
import { parseIdx } from './idx';

function idx(shape: readonly number[], values: Uint8Array, type = 0x08): Uint8Array {
  const bytes = new Uint8Array(4 + 4 * shape.length + values.length);
  bytes[2] = type;
  bytes[3] = shape.length;
  const view = new DataView(bytes.buffer);
  shape.forEach((size, i) => view.setUint32(4 + 4 * i, size));
  bytes.set(values, 4 + 4 * shape.length);
  return bytes;
}

const table = fc
  .array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 4 })
  .chain((shape) =>
    fc.tuple(
      fc.constant(shape),
      fc.uint8Array({ minLength: shape.reduce((a, b) => a * b, 1), maxLength: shape.reduce((a, b) => a * b, 1) }),
    ),
  );

describe('parseIdx', () => {
  it('reads back every table', () => {
    fc.assert(
      fc.property(table, ([shape, values]) => {
        const parsed = parseIdx(idx(shape, values), 'file');
        expect(parsed.shape).toEqual(shape);
        expect(parsed.data).toEqual(values);
      }),
    );
  });

  it('reads a view that does not start at the beginning of its buffer', () => {
    const file = idx([2, 2], Uint8Array.of(1, 2, 3, 4));
    const padded = new Uint8Array(file.length + 7);
    padded.set(file, 5);
    expect(Array.from(parseIdx(padded.subarray(5, 5 + file.length), 'file').data)).toEqual([1, 2, 3, 4]);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['nothing', new Uint8Array(0), /has 0 bytes/],
    ['a wrong start', Uint8Array.of(1, 0, 8, 1, 0, 0, 0, 0), /two zero bytes/],
    ['floats', idx([1], new Uint8Array(4), 0x0d), /element type is 0x0d/],
    ['no dimension', Uint8Array.of(0, 0, 8, 0), /declares 0 dimensions/],
    ['too many dimensions', Uint8Array.of(0, 0, 8, 255), /declares 255 dimensions/],
    ['a cut header', Uint8Array.of(0, 0, 8, 2, 0, 0, 0, 1), /cut off after 8/],
    ['too few values', idx([3, 2], new Uint8Array(5)), /declares 3 x 2 values, 5 bytes follow/],
    ['too many values', idx([3, 2], new Uint8Array(7)), /7 bytes follow/],
    ['sizes that overflow', idx([0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff], new Uint8Array(1)), /bytes follow/],
    ['a product that wraps to zero', idx([0x10000, 0x10000], new Uint8Array(0)), /0 bytes follow/],
  ])('refuses %s', (_, bytes, message) => {
    expect(() => parseIdx(bytes, 'digits')).toThrow(message);
    expect(() => parseIdx(bytes, 'digits')).toThrow(/^digits is not a readable IDX file/);
  });

  it('answers any bytes with a table that fits them or a coded error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.boolean(), (noise, withMagic) => {
        if (withMagic) noise.set([0, 0, 8].slice(0, noise.length));
        try {
          const { shape, data } = parseIdx(noise, 'noise');
          expect(shape.reduce((a, b) => a * b, 1)).toBe(data.length);
        } catch (error) {
          expect(error).toBeInstanceOf(CodedError);
          expect((error as CodedError).code).toBe('invalid_data_file');
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
