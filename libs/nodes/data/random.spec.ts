import * as fc from 'fast-check';
import { RandomStream } from './random';

describe('RandomStream', () => {
  it('gives the same stream for the same seed, and another one for another seed', () => {
    const run = (seed: number) => {
      const stream = new RandomStream(seed);
      return Array.from({ length: 8 }, () => stream.next());
    };
    expect(run(7)).toEqual(run(7));
    expect(run(7)).not.toEqual(run(8));
  });

  it('starts from the operating system without a seed', () => {
    const draws = new Set(Array.from({ length: 4 }, () => new RandomStream(null).next()));
    expect(draws.size).toBeGreaterThan(1);
  });

  it('permutes: every number once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 300 }), (seed, count) => {
        const order = new RandomStream(seed).permutation(count);
        expect(Array.from(order).sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i));
      }),
    );
  });

  it('puts every number in every place about equally often', () => {
    const stream = new RandomStream(1);
    const counts = Array.from({ length: 4 }, () => new Array<number>(4).fill(0));
    for (let round = 0; round < 4_000; round++) {
      stream.permutation(4).forEach((value, place) => counts[place]![value]!++);
    }
    // Expected 1,000 each; the standard deviation is 27.
    for (const count of counts.flat()) {
      expect(Math.abs(count - 1_000)).toBeLessThan(170);
    }
  });
});
