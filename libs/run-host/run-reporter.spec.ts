import type { RunHostMessage } from '@cdui/protocol';
import { FLOW_GRANT } from './client/flow';
import { RunReporter } from './run-reporter';

const origin = { nodeId: 'n', innerId: null };

function make(limits: { readonly high?: number; readonly limit?: number } = {}) {
  const messages: RunHostMessage[] = [];
  let now = 0;
  const reporter = new RunReporter({
    runId: 'r',
    post: (message) => void messages.push(message),
    elapsed: () => now,
    payloadCapBytes: 2_000,
    ...limits,
  });
  const advance = (milliseconds: number): void => {
    now += milliseconds;
    jest.advanceTimersByTime(milliseconds);
  };
  return { messages, reporter, advance, types: () => messages.map(({ type }) => type) };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('RunReporter', () => {
  it('sends metrics together half a second after the first', () => {
    const { messages, reporter, advance } = make();
    reporter.metric(origin, 'loss', 1, 1);
    advance(300);
    reporter.metric(origin, 'loss', NaN, 2);
    advance(199);
    expect(messages).toEqual([]);
    advance(1);
    const points = [
      { name: 'loss', value: 1, step: 1, node_id: 'n' },
      { name: 'loss', value: null, step: 2, node_id: 'n' },
    ];
    expect(messages).toEqual([{ type: 'metrics', run_id: 'r', at_ms: 500, points }]);
    reporter.metric(origin, 'loss', 2, 3);
    advance(500);
    expect(messages).toHaveLength(2);
  });

  it('sends a node’s metrics and texts before its end', () => {
    const { reporter, types } = make();
    reporter.status({ origin, status: 'running' });
    reporter.console('hello\n');
    reporter.metric(origin, 'loss', 1, 1);
    reporter.status({ origin, status: 'completed' });
    expect(types()).toEqual(['event', 'console', 'metrics', 'event']);
  });

  it('joins texts until the thread is idle', () => {
    const { messages, reporter } = make();
    reporter.console('a');
    reporter.console('b');
    jest.runAllTimers();
    expect(messages).toEqual([{ type: 'console', run_id: 'r', text: 'ab' }]);
  });

  it('infers metrics of numeric outputs unless the node records some', () => {
    const { messages, reporter } = make();
    const ports = [{ port: 'accuracy', kind: 'scalar', value: 0.5 }] as const;
    reporter.status({ origin, status: 'completed', ports });
    const silent = { nodeId: 'm', innerId: null };
    reporter.metric(silent, 'own', 1, 1);
    reporter.status({ origin: silent, status: 'completed', ports });
    const points = messages.flatMap((message) => (message.type === 'metrics' ? message.points : []));
    expect(points.map(({ node_id, name }) => `${node_id}.${name}`)).toEqual(['n.accuracy', 'm.own']);
  });

  it('caps what it sends, and an error’s text survives', () => {
    const { messages, reporter } = make();
    reporter.status({
      origin,
      status: 'error',
      error: 'it broke',
      outputs: [{ output_kind: 'text', text: 'x'.repeat(9_000) }],
    });
    expect(messages).toMatchObject([
      { type: 'event', event: { payload: { error: 'it broke', outputs: [{ output_kind: 'text', elided: true }] } } },
    ]);
  });

  it('says when it is above the mark, and lets go on when the reader took enough in', async () => {
    const { reporter } = make({ high: FLOW_GRANT + 1 });
    for (let count = 0; count < FLOW_GRANT; count += 1)
      expect(reporter.status({ origin, status: 'progress' })).toBe(true);
    expect(reporter.status({ origin, status: 'progress' })).toBe(false);
    let drained = false;
    const waiting = reporter.drained().then(() => {
      drained = true;
    });
    await Promise.resolve();
    expect(drained).toBe(false);
    reporter.resume();
    await waiting;
    expect(reporter.status({ origin, status: 'progress' })).toBe(true);
  });

  it('drops progress, metrics and texts far above the mark, never ends, and counts them', () => {
    const { messages, reporter } = make({ high: 2, limit: 4 });
    for (let count = 0; count < 10; count += 1) reporter.status({ origin, status: 'progress' });
    reporter.metric(origin, 'loss', 1, 1);
    reporter.console('text');
    reporter.status({ origin, status: 'error', error: 'it broke' });
    expect(messages).toHaveLength(5);
    reporter.resume();
    expect(messages.at(-1)).toMatchObject({ type: 'warning', warning: { kind: 'dropped_signals', count: 8 } });
  });

  it('sends what is left when it closes, and lets nobody wait for ever', async () => {
    const { reporter, types } = make({ high: 1 });
    reporter.status({ origin, status: 'running' });
    reporter.metric(origin, 'loss', 1, 1);
    reporter.console('last words');
    const waiting = reporter.drained();
    reporter.close();
    await waiting;
    expect(types()).toEqual(['event', 'console', 'metrics']);
    expect(jest.getTimerCount()).toBe(1);
  });
});
