import type { Reason } from '@cdui/protocol';
import type { EndReport, RunInput, RunState, Step } from './lifecycle';
import { reduceRun } from './lifecycle';

const REASON: Reason = { code: 'some_code', params: { a: 1 }, message: 'Some words' };
const SUCCEEDED: EndReport = { status: 'succeeded', error: null, reason: null, failed_nodes: [], skipped_nodes: [] };

/** Every kind of input; the type makes the list complete. */
const INPUTS: { readonly [T in RunInput['type']]: Extract<RunInput, { type: T }> } = {
  placed: { type: 'placed', local: true },
  committed: { type: 'committed' },
  commit_failed: { type: 'commit_failed' },
  row_lost: { type: 'row_lost' },
  started: { type: 'started' },
  finished: { type: 'finished', outcome: SUCCEEDED },
  executor_error: { type: 'executor_error' },
  storage_failed: { type: 'storage_failed', reason: REASON },
  cancel: { type: 'cancel', reason: 'user' },
  shutdown: { type: 'shutdown' },
  disconnected: { type: 'disconnected' },
  reconnected: { type: 'reconnected' },
  grace_over: { type: 'grace_over', reason: REASON },
  returned: { type: 'returned' },
  removed: { type: 'removed', reason: REASON },
  rekeyed: { type: 'rekeyed', reason: REASON },
  adopted: { type: 'adopted' },
  restarted: { type: 'restarted' },
};

const STATES = {
  queued: { at: 'queued' },
  starting: { at: 'starting', local: true, stop: null },
  'starting, to stop': { at: 'starting', local: true, stop: 'user' },
  'here, not begun': { at: 'running', local: true, started: false, stop: null },
  here: { at: 'running', local: true, started: true, stop: null },
  'here, stopping': { at: 'running', local: true, started: true, stop: 'user' },
  'away, not begun': { at: 'running', local: false, started: false, stop: null },
  'away, not begun, stopping': { at: 'running', local: false, started: false, stop: 'user' },
  away: { at: 'running', local: false, started: true, stop: null },
  disconnected: { at: 'disconnected', adopted: false, started: true, stop: null },
  adopted: { at: 'disconnected', adopted: true, started: false, stop: null },
  'adopted, begun': { at: 'disconnected', adopted: true, started: true, stop: null },
  ended: { at: 'ended', status: 'succeeded' },
  gone: { at: 'gone' },
} as const satisfies Readonly<Record<string, RunState>>;

type Cells = { readonly [T in RunInput['type']]?: string };

const FAILED_HERE = 'ended failed: end running as failed (execution_error)';
const BROKEN_HERE = 'ended failed: abort lost, end running as failed (execution_error)';
const SUCCEEDED_HERE = 'ended succeeded: end running as succeeded (execution_complete)';
const FAILED_AWAY = 'ended failed: end running/disconnected as failed (execution_error)';
const BROKEN_AWAY = 'ended failed: abort lost, end running/disconnected as failed (execution_error)';
const SUCCEEDED_AWAY = 'ended succeeded: end running/disconnected as succeeded (execution_complete)';
const CUT_OFF = 'ended interrupted: abort lost, end running/disconnected as interrupted (execution_stopped)';
const GONE_RUNNING = 'gone: abort lost, forget';

/** What each state makes of each input. What is not named changes nothing. */
const TABLE: { readonly [S in keyof typeof STATES]: Cells } = {
  queued: {
    placed: 'starting: commit_running',
    row_lost: 'gone: forget',
    cancel: 'ended cancelled: end queued as cancelled (execution_stopped)',
    shutdown: 'ended interrupted: end queued as interrupted (execution_stopped)',
    removed: 'ended failed: end queued as failed (execution_error)',
    restarted: 'ended interrupted: end queued as interrupted (execution_stopped)',
  },
  starting: {
    committed: 'running: execute',
    commit_failed: 'queued: requeue',
    row_lost: 'gone: forget',
    cancel: 'starting, stop user',
    shutdown: 'starting, stop shutdown',
    removed: 'ended failed: end queued/running as failed (execution_error)',
    rekeyed: 'ended interrupted: end queued/running as interrupted (execution_stopped)',
  },
  'starting, to stop': {
    committed: 'ended cancelled: end running as cancelled (execution_stopped)',
    commit_failed: 'ended cancelled: end queued/running as cancelled (execution_stopped)',
    row_lost: 'gone: forget',
    removed: 'ended failed: end queued/running as failed (execution_error)',
    rekeyed: 'ended interrupted: end queued/running as interrupted (execution_stopped)',
  },
  'here, not begun': {
    row_lost: GONE_RUNNING,
    restarted: 'ended interrupted: end running as interrupted (execution_stopped)',
    started: 'running, started',
    finished: SUCCEEDED_HERE,
    executor_error: FAILED_HERE,
    storage_failed: BROKEN_HERE,
    cancel: 'running, stop user: abort user',
    shutdown: 'running, stop shutdown: abort shutdown',
  },
  here: {
    row_lost: GONE_RUNNING,
    restarted: 'ended interrupted: end running as interrupted (execution_stopped)',
    finished: SUCCEEDED_HERE,
    executor_error: FAILED_HERE,
    storage_failed: BROKEN_HERE,
    cancel: 'running, started, stop user: abort user',
    shutdown: 'running, started, stop shutdown: abort shutdown',
  },
  'here, stopping': {
    row_lost: GONE_RUNNING,
    restarted: 'ended interrupted: end running as interrupted (execution_stopped)',
    finished: SUCCEEDED_HERE,
    executor_error: FAILED_HERE,
    storage_failed: BROKEN_HERE,
  },
  'away, not begun': {
    row_lost: GONE_RUNNING,
    started: 'running, started',
    finished: SUCCEEDED_AWAY,
    executor_error: FAILED_AWAY,
    storage_failed: BROKEN_AWAY,
    cancel: 'running, stop user: abort user',
    disconnected: 'disconnected: mark disconnected',
    returned: 'queued: requeue uncommitted',
    removed: CUT_OFF,
    rekeyed: CUT_OFF,
    adopted: 'disconnected, adopted: mark disconnected, adopt',
  },
  'away, not begun, stopping': {
    row_lost: GONE_RUNNING,
    started: 'running, started, stop user',
    finished: SUCCEEDED_AWAY,
    executor_error: FAILED_AWAY,
    storage_failed: BROKEN_AWAY,
    disconnected: 'disconnected, stop user: mark disconnected',
    returned: 'ended cancelled: end running/disconnected as cancelled (execution_stopped)',
    removed: CUT_OFF,
    rekeyed: CUT_OFF,
    adopted: 'disconnected, adopted: mark disconnected, adopt',
  },
  away: {
    row_lost: GONE_RUNNING,
    finished: SUCCEEDED_AWAY,
    executor_error: FAILED_AWAY,
    storage_failed: BROKEN_AWAY,
    cancel: 'running, started, stop user: abort user',
    disconnected: 'disconnected, started: mark disconnected',
    removed: CUT_OFF,
    rekeyed: CUT_OFF,
    adopted: 'disconnected, started, adopted: mark disconnected, adopt',
  },
  disconnected: {
    row_lost: GONE_RUNNING,
    finished: SUCCEEDED_AWAY,
    executor_error: FAILED_AWAY,
    storage_failed: BROKEN_AWAY,
    cancel: 'disconnected, started, stop user: abort user',
    reconnected: 'running, started: mark running',
    grace_over: CUT_OFF,
    removed: CUT_OFF,
    rekeyed: CUT_OFF,
    adopted: 'disconnected, started, adopted: adopt',
  },
  adopted: {
    row_lost: GONE_RUNNING,
    finished: SUCCEEDED_AWAY,
    executor_error: FAILED_AWAY,
    storage_failed: BROKEN_AWAY,
    cancel: 'disconnected, adopted, stop user: abort user',
    shutdown: CUT_OFF,
    reconnected: 'running: mark running',
    grace_over: CUT_OFF,
    removed: CUT_OFF,
    rekeyed: CUT_OFF,
    adopted: 'disconnected, adopted: adopt',
  },
  'adopted, begun': {
    row_lost: GONE_RUNNING,
    finished: SUCCEEDED_AWAY,
    executor_error: FAILED_AWAY,
    storage_failed: BROKEN_AWAY,
    cancel: 'disconnected, started, adopted, stop user: abort user',
    shutdown: CUT_OFF,
    reconnected: 'running, started: mark running',
    grace_over: CUT_OFF,
    removed: CUT_OFF,
    rekeyed: CUT_OFF,
    adopted: 'disconnected, started, adopted: adopt',
  },
  ended: {},
  gone: {},
};

function describeState(state: RunState): string {
  return [
    state.at + (state.at === 'ended' ? ` ${state.status}` : ''),
    'started' in state && state.started ? 'started' : '',
    'adopted' in state && state.adopted ? 'adopted' : '',
    'stop' in state && state.stop !== null ? `stop ${state.stop}` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function describeStep({ state, effects }: Step): string {
  const done = effects.map((effect) => {
    switch (effect.do) {
      case 'abort':
        return `abort ${effect.reason}`;
      case 'mark':
        return `mark ${effect.status}`;
      case 'requeue':
        return effect.uncommit ? 'requeue uncommitted' : 'requeue';
      case 'end':
        return `end ${effect.from.join('/')} as ${effect.end.status} (${effect.end.event.type})`;
      default:
        return effect.do;
    }
  });
  return describeState(state) + (done.length > 0 ? `: ${done.join(', ')}` : '');
}

const everything = Object.keys(STATES).flatMap((state) =>
  Object.keys(INPUTS).map((input) => [state, input] as [keyof typeof STATES, RunInput['type']]),
);

describe('reduceRun', () => {
  it.each(everything)('answers, while %s, to %s', (name, type) => {
    const state: RunState = STATES[name];
    const step = reduceRun(state, INPUTS[type]);
    const expected = TABLE[name][type];
    expect(describeStep(step)).toBe(expected ?? describeState(state));
    if (expected === undefined) expect(step.state).toEqual(state);
  });

  it('leaves a status only for one that may follow it', () => {
    for (const [name, type] of everything) {
      const state: RunState = STATES[name];
      if (state.at === 'ended' || state.at === 'gone') continue;
      const { state: next, effects } = reduceRun(state, INPUTS[type]);
      const ends = effects.filter((effect) => effect.do === 'end');
      expect({ name, type, ends: ends.length }).toEqual({ name, type, ends: next.at === 'ended' ? 1 : 0 });
      // What is freed is freed in one place only.
      const freeing = effects.filter(
        (effect) => effect.do === 'end' || effect.do === 'requeue' || effect.do === 'forget',
      );
      const leaves = next.at === 'ended' || next.at === 'gone' || (next.at === 'queued' && state.at !== 'queued');
      expect({ name, type, freeing: freeing.length }).toEqual({ name, type, freeing: leaves ? 1 : 0 });
    }
  });

  const finishedWith = (state: RunState, outcome: Partial<EndReport>) => {
    const [effect] = reduceRun(state, { type: 'finished', outcome: { ...SUCCEEDED, ...outcome } }).effects;
    return effect?.do === 'end' ? effect.end : undefined;
  };

  it('files a run that went on without failed nodes as failed, with its nodes in the last event', () => {
    const outcome = {
      status: 'failed' as const,
      error: '1 of 3 nodes failed: Add "b": no',
      reason: { code: 'nodes_failed', params: {} },
      failed_nodes: ['b'],
      skipped_nodes: ['c'],
    };
    expect(finishedWith(STATES.here, outcome)).toMatchObject({
      status: 'failed',
      error: outcome.error,
      event: { type: 'execution_complete', payload: { failed_nodes: ['b'], skipped_nodes: ['c'] } },
    });
  });

  it('tells a failure with its code', () => {
    const reason = { code: 'node_failed', params: { node_id: 'b' } };
    expect(finishedWith(STATES.here, { status: 'failed', error: 'no', reason, failed_nodes: ['b'] })).toEqual({
      status: 'failed',
      error: 'no',
      reason,
      event: { type: 'execution_error', payload: { error: 'no', ...reason } },
    });
    expect(finishedWith(STATES.here, { status: 'failed', error: 'no' })?.event).toEqual({
      type: 'execution_error',
      payload: { error: 'no' },
    });
  });

  it.each([
    ['user', 'cancelled', null],
    ['budget', 'cancelled', null],
    ['shutdown', 'interrupted', 'server_stopped'],
    ['lost', 'interrupted', null],
  ] as const)('files a run that was asked to stop (%s) as %s', (stop, status, code) => {
    const end = finishedWith(
      { ...STATES.here, stop },
      { status: 'interrupted', reason: { code: 'interrupted', params: {} } },
    );
    expect(end).toMatchObject({ status, event: { type: 'execution_stopped', payload: { reason: status } } });
    expect(end?.reason?.code ?? null).toBe(code);
  });

  it('files a run that had to be ended by force as stopped, with the reason why', () => {
    const outcome = {
      status: 'failed' as const,
      error: 'did not stop',
      reason: { code: 'run_unresponsive', params: {} },
    };
    expect(finishedWith(STATES['here, stopping'], outcome)).toMatchObject({
      status: 'cancelled',
      error: 'did not stop',
      reason: { code: 'run_unresponsive' },
      event: { type: 'execution_stopped' },
    });
    expect(finishedWith(STATES.here, outcome)).toMatchObject({ status: 'failed', event: { type: 'execution_error' } });
  });

  it('keeps what a run did before it heard that it should stop', () => {
    expect(finishedWith(STATES['here, stopping'], {})).toMatchObject({ status: 'succeeded' });
  });

  it('files a run that stopped by itself as interrupted', () => {
    const reason = { code: 'interrupted', params: { reason: 'node' } };
    expect(finishedWith(STATES.here, { status: 'interrupted', reason })).toMatchObject({
      status: 'interrupted',
      reason,
    });
  });
});
