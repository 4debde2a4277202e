import fc from 'fast-check';
import { Generator, philox } from './random';

function block(counter: readonly number[], key: readonly number[]): string {
  const out = new Uint32Array(4);
  philox(out, counter[0]!, counter[1]!, counter[2]!, counter[3]!, key[0]!, key[1]!);
  return Array.from(out, (word) => word.toString(16).padStart(8, '0')).join(' ');
}

function uniform(seed: number, count: number): Float32Array {
  const out = new Float32Array(count);
  new Generator(seed).uniform(out);
  return out;
}

function moments(values: Float32Array): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length };
}

describe('philox', () => {
  it("agrees with the known answers of the authors' Random123", () => {
    expect(block([0, 0, 0, 0], [0, 0])).toBe('6627e8d5 e169c58d bc57ac4c 9b00dbd8');
    const ones = 0xffffffff;
    expect(block([ones, ones, ones, ones], [ones, ones])).toBe('408f276d 41c83b0e a20bc7c6 6d5451fd');
    expect(block([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0])).toBe(
      'd16cfe09 94fdcceb 5001e420 24126ea1',
    );
  });
});

describe('Generator', () => {
  it('gives one stream a seed, whatever its sign and size', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 1, max: 40 }), (seed, count) => {
        expect(uniform(seed, count)).toEqual(uniform(seed, count));
        expect(uniform(seed, 4)).not.toEqual(uniform(seed + 1, 4));
      }),
    );
  });

  it('starts with the documented words', () => {
    expect(Array.from(uniform(0, 2))).toEqual([0x6627e8, 0xe169c5].map((bits) => bits / 2 ** 24));
  });

  it('goes on with fresh blocks', () => {
    const generator = new Generator(3);
    const first = new Float32Array(5);
    const second = new Float32Array(5);
    generator.uniform(first);
    generator.uniform(second);
    expect(Array.from(second)).toEqual(Array.from(uniform(3, 16).subarray(8, 13)));
    expect(first).not.toEqual(second);
  });

  it('is uniform in [0, 1)', () => {
    const values = uniform(7, 60_000);
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    const { mean, variance } = moments(values);
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.006);
    expect(Math.abs(variance - 1 / 12)).toBeLessThan(0.003);
    const bins = new Array<number>(16).fill(0);
    for (const value of values) bins[Math.floor(value * 16)]!++;
    const chiSquare = bins.reduce((sum, count) => sum + (count - 3_750) ** 2 / 3_750, 0);
    expect(chiSquare).toBeLessThan(37.7); // 15 degrees of freedom, p = 0.001
  });

  it('is normal with the moments asked for', () => {
    const values = new Float32Array(60_001);
    new Generator(11).normal(values, 2, 3);
    const { mean, variance } = moments(values);
    expect(Math.abs(mean - 2)).toBeLessThan(0.06);
    expect(Math.abs(variance - 9)).toBeLessThan(0.3);
    const within = values.reduce((count, value) => count + (Math.abs(value - 2) < 3 ? 1 : 0), 0) / values.length;
    expect(Math.abs(within - 0.6827)).toBeLessThan(0.01);
  });

  it('draws integers below any bound without bias', () => {
    const counts = new Array<number>(7).fill(0);
    for (const value of new Generator(5).integers(70_000, 7)) counts[value]!++;
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), fc.integer(), (below, seed) => {
        for (const value of new Generator(seed).integers(8, below)) {
          expect(Number.isInteger(value) && value >= 0 && value < below).toBe(true);
        }
      }),
    );
  });

  it('permutes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 50 }), fc.integer(), (n, seed) => {
        const order = Array.from(new Generator(seed).permutation(n));
        expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: n }, (_, i) => i));
      }),
    );
    const firsts = new Set(Array.from({ length: 200 }, (_, seed) => new Generator(seed).permutation(5)[0]));
    expect(firsts.size).toBe(5);
  });
});
