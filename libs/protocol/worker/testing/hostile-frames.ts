import * as fc from 'fast-check';
import { AGENT_FRAME_EXAMPLES, SERVER_FRAME_EXAMPLES } from '../examples';
import { fieldsOf } from './fields-of';

const EXAMPLES = [...Object.values(AGENT_FRAME_EXAMPLES), ...Object.values(SERVER_FRAME_EXAMPLES)].map((example) =>
  JSON.stringify(example),
);
const TYPES = [...Object.keys(AGENT_FRAME_EXAMPLES), ...Object.keys(SERVER_FRAME_EXAMPLES)];

const nested = (depth: number, open: string, close: string): unknown =>
  JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`);

const HOSTILE: readonly unknown[] = [
  ...[undefined, null, true, false, '', 'x', 0, -0, -1, 1.5, 1e21, 2 ** 53, NaN, Infinity, -Infinity],
  ...[[], {}, [null], [[]], [{}], ['a', 1], { a: [{ b: null }] }, 'x'.repeat(600), '\ud800', '\u0000'],
  ...['__proto__', 'constructor', '../../etc', 'node_status\n'],
  ...[nested(300, '[', ']'), nested(100, '{"a":', '}')],
  JSON.parse('{"__proto__":{"type":"ack","run_id":"r"}}'),
  JSON.parse('{"constructor":1,"toString":2,"length":-1}'),
  JSON.parse('{"type":"constructor","backend":"__proto__","payload":null}'),
];
/** Made once, and met seldom: looking at them takes long. */
const HUGE: readonly unknown[] = [
  ...[nested(10_000, '[', ']'), nested(10_000, '{"a":', '}'), Array(200_000).fill(0), 'x'.repeat(5_000_000)],
];
const hostile = fc.oneof(
  { arbitrary: fc.constantFrom(...HOSTILE), weight: 99 },
  { arbitrary: fc.constantFrom(...HUGE), weight: 1 },
);
const KEYS = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'type', 'unknown', 'x'.repeat(5_000)];

/** A frame of either direction with one field taken away, replaced, or put beside another. */
const mutated: fc.Arbitrary<unknown> = fc
  .record({
    text: fc.constantFrom(...EXAMPLES),
    at: fc.nat(),
    change: fc.constantFrom('remove', 'replace', 'replace', 'replace', 'add', 'wrap'),
    value: hostile,
    key: fc.constantFrom(...KEYS),
  })
  .map(({ text, at, change, value, key }) => {
    const frame = JSON.parse(text) as object;
    const fields = fieldsOf(frame);
    const field = fields[at % fields.length];
    if (!field) return frame;
    const { holder } = field;
    if (change === 'remove') delete holder[field.key];
    else if (change === 'replace') put(holder, field.key, value);
    else if (change === 'add') put(holder, key, value);
    else put(holder, field.key, [holder[field.key]]);
    return frame;
  });

/** As JSON.parse does it: `__proto__` becomes a member like any other. */
function put(holder: object, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Any JSON, now and then with a type that a frame has. */
const random: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(...HOSTILE),
  fc
    .tuple(fc.constantFrom(...TYPES, ...KEYS), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })))
    .map(([type, rest]) => ({ type, ...rest })),
);

/** Half of them nearly frames, half of them anything. */
export const hostileFrame: fc.Arbitrary<unknown> = fc.oneof(mutated, random);
