/** Deeper than any sensible value; what passes values on recurses. */
const DEEPEST = 200;

/**
 * Why a value cannot be passed on as data, as the end of a sentence ("contains itself"); null when it can.
 *
 * @param opaque whether an object or function is passed on as a whole and needs no look inside
 */
export function whyNotData(value: unknown, opaque: (value: object) => boolean = ArrayBuffer.isView): string | null {
  return new Walk(opaque).problem(value, 0);
}

class Walk {
  private readonly above = new Set<object>();
  private readonly seen = new Set<object>();

  constructor(private readonly opaque: (value: object) => boolean) {}

  problem(value: unknown, depth: number): string | null {
    if (typeof value === 'bigint') return 'contains a BigInt, which is no number of JSON: use Number(...)';
    if (typeof value === 'function' && this.opaque(value)) return null;
    if (typeof value === 'function' || typeof value === 'symbol') return `contains a ${typeof value}, which is no data`;
    if (typeof value !== 'object' || value === null || this.opaque(value)) return null;
    if (this.above.has(value)) return 'contains itself';
    if (depth > DEEPEST) return `nests deeper than ${DEEPEST} levels`;
    // What is used in several places is looked at once.
    if (this.seen.has(value)) return null;
    this.seen.add(value);
    this.above.add(value);
    const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    for (const item of items) {
      const kind = typeof item;
      if (kind === 'number' || kind === 'string' || kind === 'boolean') continue;
      const problem = this.problem(item, depth + 1);
      if (problem !== null) return problem;
    }
    this.above.delete(value);
    return null;
  }
}
