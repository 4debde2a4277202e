import fc from 'fast-check';
import type { RunEvent } from '../client/api';
import { plainStyle } from '../graph-run/style';
import { recordedRun } from '../testing/recorded-run';
import { EventLines } from './event-lines';
import { RunJsonView, RunTextView } from './run-views';

const START = Date.parse('2026-01-01T00:00:00Z');

/** The recorded run as the server stores it. */
const stored: readonly RunEvent[] = recordedRun.flatMap((message, index): RunEvent[] => {
  const at = 'at_ms' in message ? message.at_ms : 0;
  const event = (type: string, payload: object): RunEvent[] => [
    { cursor: index + 1, type, payload: payload as Record<string, unknown>, ts: new Date(START + at).toISOString() },
  ];
  switch (message.type) {
    case 'run_started':
      return event('execution_start', { run_id: 'r' });
    case 'event':
      return event(message.event.type, message.event.payload);
    case 'metrics':
      return event('metric', { points: message.points });
    case 'artifact':
      return event('artifact', message.artifact);
    case 'warning':
      return event('run_warning', message.warning);
    default:
      return [];
  }
});

/** What stands in place of a text that was too large to store. */
const elidedText = {
  cursor: 1,
  type: 'node_status',
  payload: {
    node_id: 'n',
    status: 'completed',
    outputs: [{ output_kind: 'text', elided: true, bytes: 2_097_152, cap_bytes: 131_072 }],
  },
  ts: new Date(START).toISOString(),
};

it('says where a text is that was too large to store', () => {
  const [, line] = new EventLines(plainStyle).lines(elidedText);
  expect(line).toBe('  ... 2.0 MiB of text: the run\'s log has it ("cdui runs logs ID")');
});

/** Events whose parts may be anything that JSON can hold, the words that matter among it. */
const anything = fc.oneof(fc.jsonValue(), fc.constantFrom('node', 'text', 'batch', 'epoch', 'config'));
const anyOf = (...keys: string[]) =>
  fc.record(Object.fromEntries(keys.map((key) => [key, anything])), { requiredKeys: [] });
const anyEntry = fc
  .tuple(
    fc.constantFrom('text', 'progress', 'tensor_summary', 'chart'),
    fc.oneof(
      anything,
      anyOf('event', 'config', 'epoch', 'batch', 'total_batches', 'phase', 'loss', 'lr', 'val_loss'),
      fc
        .tuple(fc.constantFrom('tensor', 'model', 'scalar', 'string', 'list', 'steps'), anyOf('value', 'repr', 'shape'))
        .map(([type, rest]) => ({ ...rest, type })),
    ),
    anyOf('port'),
  )
  .map(([kind, content, rest]) => ({ ...rest, output_kind: kind, [kind]: content }));
const status = fc.constantFrom('running', 'progress', 'completed', 'cached', 'error', 'skipped', 'interrupted', 5);
const anyEvent: fc.Arbitrary<RunEvent> = fc
  .tuple(
    fc.constantFrom('execution_start', 'node_status', 'inner_node_status', 'artifact', 'run_warning', 'metric'),
    fc.oneof(
      anything,
      fc
        .tuple(
          anyOf('node_id', 'inner_id', 'error', 'detail', 'kind', 'path'),
          status,
          fc.oneof(anything, fc.array(fc.oneof(anyEntry, anything))),
        )
        .map(([rest, state, outputs]) => ({ ...rest, status: state, outputs })),
    ),
    fc.constantFrom('2026-01-01T00:00:00Z', 'never'),
  )
  .map(([type, payload, ts]) => ({ cursor: 1, type, payload, ts }) as RunEvent);

it('says what is done, line by line', () => {
  const lines = new EventLines(plainStyle);
  expect(stored.flatMap((event) => lines.lines(event))).toEqual([
    '▸ started',
    '✓ digits  dataset: the data set MNIST (60000 rows)',
    '  training  421,642 params, Adam, CrossEntropyLoss, cpu, 2 epochs',
    '  training  epoch 1/2  loss 0.4123  val_loss 0.31  val_accuracy 91.12 %  lr 0.001  2.0 s',
    '  training  epoch 2/2  loss 0.2  lr 0.001  2.0 s',
    '✓ training  4.2 s  model: Model(421,642 params)  losses: Tensor[2] float32 mean 0.3062 min 0.2 max 0.4123',
    '  block/conv: out of range',
    '✗ block',
    '  out of range',
    '– after  skipped',
    '  upstream node failed',
    '  saved saved model /data/models/m.safetensors',
    '! bf16 runs as fp32',
  ]);
});

it('knows what happens now: the loop that trains, else the nodes that run', () => {
  const lines = new EventLines(plainStyle);
  const below = stored.map((event) => {
    lines.lines(event);
    return lines.below(80);
  });
  expect(below[0]).toBeNull();
  expect(below[1]).toBe('running digits');
  expect(below.some((text) => text?.includes('epoch 1/2  batch 50/100'))).toBe(true);
  expect(below.at(-1)).toBeNull();
});

it('lets no name or text of a run move the cursor', () => {
  const lines = new EventLines(plainStyle);
  const evil = 'a\u001B[2Jb\r\n\u0007';
  const events: RunEvent[] = [
    {
      cursor: 1,
      type: 'node_status',
      payload: { node_id: evil, status: 'error', error: evil },
      ts: '2026-01-01T00:00:00Z',
    },
    { cursor: 2, type: 'run_warning', payload: { kind: 'x', detail: evil }, ts: '2026-01-01T00:00:00Z' },
    {
      cursor: 3,
      type: 'node_status',
      payload: { node_id: 'p', status: 'completed', outputs: [{ output_kind: 'text', text: evil }] },
      ts: '2026-01-01T00:00:00Z',
    },
  ];
  const text = events.flatMap((event) => lines.lines(event)).join('\n');
  for (const sign of ['\u001B', '\r', '\u0007']) expect(text).not.toContain(sign);
});

it('leaves kinds of events alone that it does not know', () => {
  const event: RunEvent = { cursor: 1, type: 'from_the_future', payload: null, ts: '2026-01-01T00:00:00Z' };
  expect(new EventLines(plainStyle).lines(event)).toEqual([]);
});

it('follows a run whatever its events hold', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 6 }), (events) => {
      const lines = new EventLines(plainStyle);
      for (const event of events) {
        for (const line of lines.lines(event)) expect(typeof line).toBe('string');
        lines.below(80);
      }
    }),
    { numRuns: 500 },
  );
});

it('shows what should be a text and is not as JSON', () => {
  const [ts, cursor] = ['2026-01-01T00:00:00Z', 1];
  const lines = new EventLines(plainStyle);
  expect([
    ...lines.lines({ cursor, ts, type: 'run_warning', payload: { kind: 'x', detail: { a: 5 } } }),
    ...lines.lines({ cursor, ts, type: 'node_status', payload: { node_id: 7, status: 'error', error: [1] } }),
  ]).toEqual(['! {"a":5}', '✗ 7', '  [1]']);
});

describe('views', () => {
  it('draws the state below the lines of a terminal, and wipes it in the end', () => {
    let text = '';
    const view = new RunTextView({ isTTY: true, columns: 80, write: (part) => (text += part) }, { NO_COLOR: '1' });
    view.submitted({ runId: '0123456789abcdef0123456789abcdef', name: 'A', status: 'queued', url: 'http://x' });
    for (const event of stored) view.event(event);
    expect(text).toContain('█');
    expect(text.lastIndexOf('\r\u001B[2K')).toBeGreaterThan(text.lastIndexOf('█'));
  });

  it('says where a run is that nobody waits for any more', () => {
    let text = '';
    const view = new RunTextView({ write: (part) => (text += part) }, {});
    view.submitted({ runId: '0123456789abcdef0123456789abcdef', name: 'A', status: 'queued', url: 'http://x' });
    view.left('interrupt', 0);
    expect(text).toContain('The run continues on the server: see "cdui runs show 01234567"');
  });

  it('keeps a document for programs to itself until the end', () => {
    let [text, aside] = ['', ''];
    const view = new RunJsonView(
      (part) => (text += part),
      (part) => (aside += part),
    );
    view.submitted({ runId: 'r', name: 'A', status: 'queued', url: 'http://x' });
    for (const event of stored) view.event(event);
    expect(text).toBe('');
    view.detached();
    expect(JSON.parse(text)).toMatchObject({ run_id: 'r', name: 'A', status: 'queued', detached: true });
    expect(aside).toBe('run submitted: r\n');
  });
});
