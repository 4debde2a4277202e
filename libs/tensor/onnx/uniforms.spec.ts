import fc from 'fast-check';
import { Generator } from './random';
import { UniformPool } from './uniforms';

const copy = (slices: readonly Float32Array[]) => slices.map((slice) => Array.from(slice));

describe('the pool of random numbers', () => {
  it('gives slices of the sizes asked for that do not overlap, the same for the same seed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 4 }),
        fc.nat(),
        (counts, seed) => {
          const pool = new UniformPool(new Generator(seed));
          const twin = new UniformPool(new Generator(seed));
          for (let step = 0; step < 3; step++) {
            const slices = pool.draw(counts);
            expect(slices.map(({ length }) => length)).toEqual(counts);
            const places = slices
              .filter(({ length }) => length)
              .map((slice) => [slice.byteOffset, slice.byteOffset + slice.byteLength] as const);
            places.forEach(([begin], at) => expect(begin).toBeGreaterThanOrEqual(at ? places[at - 1]![1] : 0));
            places.forEach(([begin]) => expect(begin % 64).toBe(0));
            twin
              .draw(counts)
              .forEach((slice, at) =>
                expect(
                  Buffer.compare(
                    Buffer.from(slice.buffer, slice.byteOffset, slice.byteLength),
                    Buffer.from(slices[at]!.buffer, slices[at]!.byteOffset, slices[at]!.byteLength),
                  ),
                ).toBe(0),
              );
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('draws afresh for small steps', () => {
    const pool = new UniformPool(new Generator(1));
    const seen = new Set<number>();
    for (let step = 0; step < 50; step++) for (const value of pool.draw([100])[0]!) seen.add(value);
    // 5,000 draws of 24 bits: a repetition or two by chance.
    expect(seen.size).toBeGreaterThan(4_990);
  });

  it('moves its window and renews what it shows for large steps', () => {
    const pool = new UniformPool(new Generator(2));
    const [first] = copy(pool.draw([40_000]));
    const values = new Set(first);
    let [repeated, shown] = [0, first!];
    for (let step = 1; step <= 40; step++) {
      const [slice] = copy(pool.draw([40_000]));
      repeated += slice!.filter((value, at) => value === shown[at]).length;
      shown = slice!;
    }
    // The same number for the same element in two steps running happens only when the window stays where it was.
    expect(repeated).toBeLessThan(40 * 40_000 * 0.05);
    // After sixteen steps nothing of the old pool is left, but for numbers drawn twice by chance (24 bits).
    expect(shown.filter((value) => values.has(value)).length).toBeLessThan(400);
  });
});
