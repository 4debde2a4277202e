import * as fc from 'fast-check';
import { times } from '../../../testing/long';
import { CodedError } from '../errors';
import { AGENT_FRAME_EXAMPLES, SERVER_FRAME_EXAMPLES } from './examples';
import type { RunStorage } from './index';
import { checkAgentFrame, checkServerFrame } from './index';
import { anyIndex, fieldsOf, objectsOf, OPEN, OPTIONAL } from './testing/fields-of';
import { hostileFrame } from './testing/hostile-frames';

type Check = (value: unknown) => unknown;
const CASES: readonly (readonly [string, Check, object])[] = [
  ...Object.values(AGENT_FRAME_EXAMPLES).map((example) => [example.type, checkAgentFrame, example] as const),
  ...Object.values(SERVER_FRAME_EXAMPLES).map((example) => [example.type, checkServerFrame, example] as const),
];
const DIGEST = 'a'.repeat(64);

/** Their values are checked: nothing deep comes as far as that. */
const TABLES: ReadonlySet<string> = new Set([
  'hello.node_type_hashes',
  'run_started.device_aliases',
  'assign.memory_budgets',
]);

const refusedBy = (field: string): Error =>
  expect.objectContaining({ code: 'invalid_frame', params: { field }, message: expect.stringContaining(field) });

/** A copy of a frame with its field at a place replaced; nothing puts an undefined one there, as JSON cannot. */
function withField(frame: object, path: string, value: unknown): object {
  const copy = structuredClone(frame);
  const field = fieldsOf(copy).find((one) => one.path === path);
  if (!field) throw new Error(`no ${path}`);
  field.holder[field.key] = value;
  return copy;
}

function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}

describe.each(CASES)('the check of %s', (_type, check, example) => {
  const paths = fieldsOf(example).map(({ path }) => path);

  it('refuses each field that is missing by its name, but for those that may be', () => {
    for (const path of paths) {
      const copy = structuredClone(example);
      const field = fieldsOf(copy).find((one) => one.path === path);
      delete field?.holder[field.key];
      if (OPTIONAL.has(anyIndex(path))) expect(check(copy)).toBe(copy);
      else expect(() => check(copy)).toThrow(refusedBy(path));
    }
  });

  it('refuses what a field cannot be, by its name', () => {
    for (const path of paths) {
      if (anyIndex(path) === 'event.event.payload.outputs[].text') continue;
      const wrong = () => check(withField(example, path, Symbol.for('none of JSON')));
      expect(wrong).toThrow(refusedBy(path));
    }
  });

  it('refuses numbers that JSON has not', () => {
    for (const { holder, key, path } of fieldsOf(example)) {
      if (typeof holder[key] !== 'number') continue;
      for (const value of [NaN, Infinity, -Infinity]) {
        expect(() => check(withField(example, path, value))).toThrow(refusedBy(path));
      }
    }
  });

  it('lets through fields that it does not know, wherever they are', () => {
    const copy = structuredClone(example);
    for (const holder of objectsOf(copy)) {
      for (const key of ['tomorrow', 'constructor', '__proto__']) {
        Object.defineProperty(holder, key, { value: { of: ['any', 'kind'] }, enumerable: true });
      }
    }
    expect(check(copy)).toBe(copy);
  });

  it('refuses what would exhaust the stack of a reader, be the field known or not', () => {
    const known = paths.filter((path) => OPEN.has(anyIndex(path)) && !TABLES.has(path));
    for (const path of known) {
      // The list of the nodes of a graph is the field; an item of it is not.
      const field = path.split('.').slice(0, 2).join('.').replace(/\[.*/, '');
      expect(() => check(withField(example, path, { deep: nested(10_000) }))).toThrow(refusedBy(field));
    }
    const type = (example as { readonly type: string }).type;
    expect(() => check({ ...example, tomorrow: nested(10_000) })).toThrow(refusedBy(`${type}.tomorrow`));
    expect(check({ ...example, tomorrow: nested(210) })).toBeTruthy();
  });
});

describe('the checks of frames', () => {
  it(
    'answer anything with the frame, with nothing, or with the field that is wrong',
    () => {
      const seen = { frame: 0, unknown: 0, refused: 0 };
      const answered = fc.property(hostileFrame, (value) => {
        for (const check of [checkAgentFrame, checkServerFrame]) seen[answerOf(check, value)] += 1;
      });
      const runs = times(100_000, 1_000_000);
      fc.assert(answered, { numRuns: runs });
      // Neither is all of it let through or refused, nor does it miss the frames.
      for (const count of Object.values(seen)) expect(count).toBeGreaterThan(runs / 50);
    },
    times(60_000, 600_000),
  );

  it.each(['tomorrow', 'constructor', '__proto__', 'toString', ''])('pass over a frame of the type "%s"', (type) => {
    expect(checkAgentFrame({ type, deep: nested(10_000) })).toBeNull();
    expect(checkServerFrame({ type })).toBeNull();
  });

  it.each([undefined, null, 1, 'ack', [], [{ type: 'ack' }], {}, { type: 1 }, { type: null }, { Type: 'ack' }])(
    'refuse %j, which has no type',
    (value) => {
      for (const check of [checkAgentFrame, checkServerFrame]) expect(() => check(value)).toThrow(refusedBy('type'));
    },
  );
});

describe('what a run may say', () => {
  const { event, metrics, artifact, run_started, run_finished, hello } = AGENT_FRAME_EXAMPLES;
  const long = 'x'.repeat(100_000);

  it('is as long as nodes and graphs make it', () => {
    const payload = {
      node_id: long,
      status: 'completed',
      outputs: Array(5_000).fill({ output_kind: 'text', text: '' }),
    };
    const outcome = { ...run_finished.outcome, failed_nodes: Array(100_000).fill('n'), error: 'x'.repeat(3_000_000) };
    const frames = [
      { ...event, event: { type: 'node_status', payload } },
      { ...event, event: { type: 'inner_node_status', payload: { ...payload, inner_id: long } } },
      { ...metrics, points: [{ name: long, value: null, step: -1, node_id: long }] },
      { ...artifact, artifact: { kind: long, path: long, meta: { deep: nested(200) }, node_id: long } },
      { ...run_finished, outcome },
    ];
    for (const frame of frames) expect(checkAgentFrame(frame)).toBe(frame);
  });

  it('counts steps in whole numbers, as they are stored', () => {
    const at = (step: number) => () => checkAgentFrame({ ...metrics, points: [{ ...metrics.points[0], step }] });
    for (const step of [0.5, 2 ** 53, NaN]) expect(at(step)).toThrow(refusedBy('metrics.points[0].step'));
  });

  it('names no prototype in a table, which whoever copies it would set', () => {
    const table: unknown = JSON.parse('{"__proto__":"cuda:0"}');
    const refused = expect.objectContaining({ code: 'invalid_frame', params: { field: 'run_started.device_aliases' } });
    expect(() => checkAgentFrame({ ...run_started, device_aliases: table })).toThrow(refused);
    expect(() => checkAgentFrame({ ...run_started, device_aliases: { [long]: 'cuda:0' } })).toThrow(refused);
    const hashes = { ...hello, node_type_hashes: { constructor: DIGEST } };
    expect(checkAgentFrame(hashes)).toBe(hashes);
  });

  it.each(['../r', 'a/b', '', '.', 'x'.repeat(65), 'r\n', 'ä'])('is about a run, and %j is none', (run_id) => {
    expect(() => checkAgentFrame({ ...metrics, run_id })).toThrow(refusedBy('metrics.run_id'));
  });

  it('has statuses and kinds of events that are known', () => {
    const other = { ...event, event: { type: 'toString', payload: {} } };
    expect(() => checkAgentFrame(other)).toThrow(refusedBy('event.event.type'));
    const payload = { node_id: 'n', status: 'constructor' };
    const status = { ...event, event: { type: 'node_status', payload } };
    expect(() => checkAgentFrame(status)).toThrow(refusedBy('event.event.payload.status'));
  });
});

describe('what an assignment may say', () => {
  const { assign } = SERVER_FRAME_EXAMPLES;
  const input = { path: 'images/a.png', sha256: DIGEST, bytes: 3 };
  const s3 = { endpoint: null, region: 'eu-1', bucket: 'b', prefix: 'p/', credentials: {} };
  const storages: readonly RunStorage[] = [
    { backend: 'mount', label: 'data' },
    { backend: 'transfer', inputs: [input] },
    { backend: 's3', inputs: [{ ...input, key: 'k' }], s3 },
  ];

  it.each(storages.map((storage) => [storage.backend, storage] as const))('includes the storage %s', (_, storage) => {
    const whole = { ...assign, storage };
    expect(checkServerFrame(whole)).toBe(whole);
    for (const { path, key } of fieldsOf(whole).filter((field) => field.path.startsWith('assign.storage.'))) {
      const copy = structuredClone(whole);
      const field = fieldsOf(copy).find((one) => one.path === path);
      delete field?.holder[key];
      expect(() => checkServerFrame(copy)).toThrow(refusedBy(path));
    }
  });

  it.each([
    ['assign.storage.backend', { storage: { backend: 'constructor' } }],
    ['assign.storage.inputs[0].sha256', { storage: { backend: 'transfer', inputs: [{ ...input, sha256: '../a' }] } }],
    ['assign.devices', { devices: [] }],
    ['assign.graph.edges', { graph: { nodes: [] } }],
    ['assign.attempt', { attempt: 0 }],
    ['assign.memory_budgets.cuda:0', { memory_budgets: { 'cuda:0': -1 } }],
  ])('is refused for its %s', (path, part) => {
    expect(() => checkServerFrame({ ...assign, ...part })).toThrow(refusedBy(path));
  });
});

/** Throws what a check must not throw, and what is wrong with its answer. It is asked too often for `expect`. */
function answerOf(check: Check, value: unknown): 'frame' | 'unknown' | 'refused' {
  let frame: unknown;
  try {
    frame = check(value);
  } catch (error) {
    const coded = error instanceof CodedError && error.code === 'invalid_frame';
    if (coded && typeof error.params['field'] === 'string' && error.message.length < 2_000) return 'refused';
    throw error;
  }
  if (frame === null) return 'unknown';
  if (frame !== value) throw new Error('the check answered with another value');
  // What every reader does with it sooner or later.
  JSON.stringify(frame);
  return 'frame';
}
