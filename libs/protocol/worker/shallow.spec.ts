import fc from 'fast-check';
import { isShallow } from './codec';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('isShallow', () => {
  it('says how deep any JSON text is, whatever stands in its strings', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[\\\\"[\]{}a]{0,8}$/));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'large' },
        text,
        fc.integer(),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(text, tie('tree'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, fc.nat(6), fc.constantFrom(0, 2), (value, depth, indent) => {
        expect(isShallow(JSON.stringify(value, null, indent), depth)).toBe(depthOf(value) <= depth);
      }),
      { numRuns: 2_000 },
    );
  });

  it('ends on what is no JSON', () => {
    for (const broken of ['"', '"\\', '"a\\"', ']]]', '{"a": "b']) expect(isShallow(broken, 3)).toBe(true);
    expect(isShallow('['.repeat(100_000), 256)).toBe(false);
  });
});
