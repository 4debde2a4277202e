/**
 * The embedded runtime's random stream: Philox4x32-10 (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011), a counter-based generator. Block `n` of a stream is a function of seed and `n`
 * alone, so a stream is the same on every machine and in every version of this program. What is drawn from it:
 *
 * - the 64-bit seed is the key, the 128-bit counter starts at 0 and counts blocks of four 32-bit words
 * - every `uniform`, `normal`, `integers` or `permutation` call starts with a fresh block, so that a call's values do not depend
 *   on how many words the call before it left over
 * - uniform [0, 1): the upper 24 bits of a word times 2^-24, exact in float32
 * - normal: Box-Muller on pairs of words, u1 = (word + 1) * 2^-32, u2 = word * 2^-32
 * - integers below n: a word modulo n, words above the largest multiple of n rejected; above 2^32 two words make 53 bits
 * - permutation: Fisher-Yates from the end
 */
export class Generator {
  private readonly key0: number;
  private readonly key1: number;
  private counter0 = 0;
  private counter1 = 0;
  private readonly block = new Uint32Array(4);

  /** @param seed any safe integer; negative ones are taken modulo 2^64 */
  constructor(readonly seed: number) {
    const bits = BigInt.asUintN(64, BigInt(Math.trunc(seed)));
    this.key0 = Number(bits & 0xffffffffn);
    this.key1 = Number(bits >> 32n);
  }

  /** Fills `out` with numbers uniform in [0, 1). */
  uniform(out: Float32Array): void {
    const { block } = this;
    const whole = out.length - (out.length % 4);
    let at = 0;
    for (; at < whole; at += 4) {
      this.next();
      out[at] = (block[0]! >>> 8) * 2 ** -24;
      out[at + 1] = (block[1]! >>> 8) * 2 ** -24;
      out[at + 2] = (block[2]! >>> 8) * 2 ** -24;
      out[at + 3] = (block[3]! >>> 8) * 2 ** -24;
    }
    if (at < out.length) {
      this.next();
      for (let word = 0; at < out.length; at++, word++) out[at] = (block[word]! >>> 8) * 2 ** -24;
    }
  }

  /** Fills `out` with numbers of the normal distribution. */
  normal(out: Float32Array, mean = 0, std = 1): void {
    const { block } = this;
    for (let at = 0; at < out.length; at += 4) {
      this.next();
      for (let pair = 0; pair < 4 && at + pair < out.length; pair += 2) {
        const radius = std * Math.sqrt(-2 * Math.log((block[pair]! + 1) * 2 ** -32));
        const angle = 2 * Math.PI * block[pair + 1]! * 2 ** -32;
        out[at + pair] = mean + radius * Math.cos(angle);
        if (at + pair + 1 < out.length) out[at + pair + 1] = mean + radius * Math.sin(angle);
      }
    }
  }

  /** `count` whole numbers, each uniform in [0, below). */
  integers(count: number, below: number): Float64Array {
    const out = new Float64Array(count);
    const draw = this.words();
    for (let i = 0; i < count; i++) out[i] = drawBelow(draw, below);
    return out;
  }

  /** The numbers 0 to n - 1 in random order. */
  permutation(n: number): Float64Array {
    const out = Float64Array.from({ length: n }, (_, i) => i);
    const draw = this.words();
    for (let i = n - 1; i > 0; i--) {
      const other = drawBelow(draw, i + 1);
      const held = out[i]!;
      out[i] = out[other]!;
      out[other] = held;
    }
    return out;
  }

  /** One word after the other, from a fresh block. */
  private words(): () => number {
    let word = 4;
    return () => {
      if (word === 4) {
        this.next();
        word = 0;
      }
      return this.block[word++]!;
    };
  }

  private next(): void {
    philox(this.block, this.counter0, this.counter1, 0, 0, this.key0, this.key1);
    this.counter0 = (this.counter0 + 1) >>> 0;
    if (this.counter0 === 0) this.counter1 = (this.counter1 + 1) >>> 0;
  }
}

function drawBelow(draw: () => number, below: number): number {
  if (below > 2 ** 32) return Math.floor(((draw() >>> 5) * 2 ** 26 + (draw() >>> 6)) * 2 ** -53 * below);
  const limit = 2 ** 32 - (2 ** 32 % below);
  let word = draw();
  while (word >= limit) word = draw();
  return word % below;
}

const { imul } = Math;
// The two multipliers of the paper, whole and in halves.
const M0_LOW = 0x1f53;
const M0_HIGH = 0xd251;
const M1_LOW = 0x8d57;
const M1_HIGH = 0xcd9e;
const M0 = 0xd2511f53 | 0;
const M1 = 0xcd9e8d57 | 0;

/** The upper 32 bits of the product of `a` and a constant given as two halves. */
function mulHigh(a: number, low: number, high: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const p1 = imul(aHigh, low);
  const p2 = imul(aLow, high);
  const middle = (imul(aLow, low) >>> 16) + (p1 & 0xffff) + (p2 & 0xffff);
  return (imul(aHigh, high) + (p1 >>> 16) + (p2 >>> 16) + (middle >>> 16)) | 0;
}

/** One block: ten rounds over the counter `c0..c3` with the key `k0, k1`. */
export function philox(out: Uint32Array, c0: number, c1: number, c2: number, c3: number, k0: number, k1: number): void {
  for (let round = 0; round < 10; round++) {
    const high0 = mulHigh(c0, M0_LOW, M0_HIGH);
    const low0 = imul(c0, M0);
    const high1 = mulHigh(c2, M1_LOW, M1_HIGH);
    const low1 = imul(c2, M1);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 = (k0 + 0x9e3779b9) | 0;
    k1 = (k1 + 0xbb67ae85) | 0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}
