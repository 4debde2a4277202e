import { randomInt } from 'node:crypto';

/**
 * A small seeded stream of random integers for the order of rows: xoshiro128** (Blackman and Vigna 2018), its state filled
 * from the seed by splitmix32. Stable across versions: a seeded run shuffles alike for ever.
 */
export class RandomStream {
  private readonly state: Uint32Array;

  /** @param seed 0 ... 2^32-1; null takes one from the operating system */
  constructor(seed: number | null) {
    let mixed = (seed ?? randomInt(2 ** 32)) >>> 0;
    this.state = Uint32Array.from({ length: 4 }, () => {
      mixed = (mixed + 0x9e3779b9) >>> 0;
      let z = mixed;
      z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      return (z ^ (z >>> 15)) >>> 0;
    });
  }

  /** A uniform integer 0 ... 2^32-1. */
  next(): number {
    const s = this.state;
    const result = Math.imul(rotate(Math.imul(s[1]!, 5), 7), 9) >>> 0;
    const shifted = s[1]! << 9;
    s[2]! ^= s[0]!;
    s[3]! ^= s[1]!;
    s[1]! ^= s[2]!;
    s[0]! ^= s[3]!;
    s[2]! ^= shifted;
    s[3] = rotate(s[3]!, 11);
    return result;
  }

  /** A uniform integer below `bound` (1 ... 2^32); rejection keeps it free of bias. */
  below(bound: number): number {
    const limit = 2 ** 32 - (2 ** 32 % bound);
    for (;;) {
      const value = this.next();
      if (value < limit) return value % bound;
    }
  }

  /** The numbers 0 ... count-1 in random order (Fisher-Yates). */
  permutation(count: number): Int32Array {
    const order = Int32Array.from({ length: count }, (_, i) => i);
    for (let i = count - 1; i > 0; i--) {
      const j = this.below(i + 1);
      const moved = order[i]!;
      order[i] = order[j]!;
      order[j] = moved;
    }
    return order;
  }
}

function rotate(value: number, by: number): number {
  return ((value << by) | (value >>> (32 - by))) >>> 0;
}
