import type { ActiveStatus, Reason, RunOutcome, StopReason, TerminalEvent, TerminalStatus } from '@cdui/protocol';
import { reasonOf } from '@cdui/protocol';

/** Where a run is in its life. The row's status follows from it. */
export type RunState =
  | { readonly at: 'queued' }
  /** Its slots are taken, and the row is being made to say `running`. Nothing has left yet. */
  | { readonly at: 'starting'; readonly local: boolean; readonly stop: StopReason | null }
  | { readonly at: 'running'; readonly local: boolean; readonly started: boolean; readonly stop: StopReason | null }
  /** Its worker is away. `adopted`: since this server began. */
  | {
      readonly at: 'disconnected';
      readonly adopted: boolean;
      readonly started: boolean;
      readonly stop: StopReason | null;
    }
  | { readonly at: 'ended'; readonly status: TerminalStatus }
  /** The row was changed or removed by somebody else: nothing more is said about this run. */
  | { readonly at: 'gone' };

/** What can happen to a run. */
export type RunInput =
  /** The scheduler took slots for it. */
  | { readonly type: 'placed'; readonly local: boolean }
  /** The commit of `running` came out: done, failed, or the row was no longer waiting. */
  | { readonly type: 'committed' }
  | { readonly type: 'commit_failed' }
  | { readonly type: 'row_lost' }
  /** Its graph begins to execute. */
  | { readonly type: 'started' }
  /** The executor says how it ended. */
  | { readonly type: 'finished'; readonly outcome: EndReport }
  /** The executor itself broke. */
  | { readonly type: 'executor_error' }
  /** What it reports cannot be stored. */
  | { readonly type: 'storage_failed'; readonly reason: Reason }
  | { readonly type: 'cancel'; readonly reason: 'user' | 'budget' }
  | { readonly type: 'shutdown' }
  /** Its worker's connection ended, came back, or did not come back in time. */
  | { readonly type: 'disconnected' }
  | { readonly type: 'reconnected' }
  | { readonly type: 'grace_over'; readonly reason: Reason }
  /** The assignment never started there: back to the queue. */
  | { readonly type: 'returned' }
  /** Its worker was removed, or its credential replaced. */
  | { readonly type: 'removed'; readonly reason: Reason }
  | { readonly type: 'rekeyed'; readonly reason: Reason }
  /** A restarted server takes over a run that a worker may still execute. */
  | { readonly type: 'adopted' }
  /** A restarted server finds a run that nobody can go on with. */
  | { readonly type: 'restarted' };

/** The part of an outcome that decides how the run is filed. */
export type EndReport = Pick<RunOutcome, 'status' | 'error' | 'reason' | 'failed_nodes' | 'skipped_nodes'>;

/** How a run is filed: its row and the last event of its log. */
export interface RunEnd {
  readonly status: TerminalStatus;
  readonly error: string | null;
  readonly reason: { readonly code: string; readonly params: Readonly<Record<string, unknown>> } | null;
  readonly event: TerminalEvent;
}

/** What has to be done, in this order. */
export type RunEffect =
  /** Make the row say `running`; the answer is `committed`, `commit_failed` or `row_lost`. */
  | { readonly do: 'commit_running' }
  | { readonly do: 'execute' }
  | { readonly do: 'adopt' }
  /** Ask the executor to stop. */
  | { readonly do: 'abort'; readonly reason: StopReason }
  /** Make the row of a run that was started say this. */
  | { readonly do: 'mark'; readonly status: 'running' | 'disconnected' }
  /** Free its slots and let it wait again, at its old place. `uncommit`: the row says `running` and must say `queued`. */
  | { readonly do: 'requeue'; readonly uncommit: boolean }
  /** Row and last event in one commit, while the row says one of `from`; then the slots; then the event is published. */
  | { readonly do: 'end'; readonly from: readonly ActiveStatus[]; readonly end: RunEnd }
  /** Free its slots and forget it, without a word. */
  | { readonly do: 'forget' };

export interface Step {
  readonly state: RunState;
  readonly effects: readonly RunEffect[];
}

export const QUEUED: RunState = { at: 'queued' };

/** What an input makes of a run. Pure; every state answers every input. */
export function reduceRun(state: RunState, input: RunInput): Step {
  switch (state.at) {
    case 'queued':
      return whileQueued(state, input);
    case 'starting':
      return whileStarting(state, input);
    case 'running':
      return whileRunning(state, input);
    case 'disconnected':
      return whileDisconnected(state, input);
    case 'ended':
    case 'gone':
      return stay(state);
  }
}

type In<A extends RunState['at']> = Extract<RunState, { at: A }>;

function whileQueued(state: In<'queued'>, input: RunInput): Step {
  switch (input.type) {
    case 'placed':
      return go({ at: 'starting', local: input.local, stop: null }, { do: 'commit_running' });
    case 'cancel':
      return ended(['queued'], stopped(input.reason));
    case 'shutdown':
      return ended(['queued'], stopped('shutdown'));
    case 'removed':
      return ended(['queued'], failed(input.reason));
    case 'restarted':
      return ended(['queued'], lost(reasonOf('server_restarted')));
    case 'row_lost':
      return go({ at: 'gone' }, { do: 'forget' });
    // A worker whose credential was replaced may come back: what waits for it goes on waiting.
    case 'rekeyed':
    case 'committed':
    case 'commit_failed':
    case 'started':
    case 'finished':
    case 'executor_error':
    case 'storage_failed':
    case 'disconnected':
    case 'reconnected':
    case 'grace_over':
    case 'returned':
    case 'adopted':
      return stay(state);
  }
}

/** The row says `queued` or `running`, nobody knows which: an end is good for both. */
function whileStarting(state: In<'starting'>, input: RunInput): Step {
  switch (input.type) {
    case 'committed':
      return state.stop === null
        ? go({ at: 'running', local: state.local, started: false, stop: null }, { do: 'execute' })
        : ended(['running'], stopped(state.stop));
    case 'commit_failed':
      return state.stop === null
        ? go(QUEUED, { do: 'requeue', uncommit: false })
        : ended(['queued', 'running'], stopped(state.stop));
    case 'row_lost':
      return go({ at: 'gone' }, { do: 'forget' });
    case 'cancel':
      return go({ ...state, stop: state.stop ?? input.reason });
    case 'shutdown':
      return go({ ...state, stop: state.stop ?? 'shutdown' });
    case 'removed':
      return ended(['queued', 'running'], failed(input.reason));
    case 'rekeyed':
      return ended(['queued', 'running'], lost(input.reason));
    case 'placed':
    case 'started':
    case 'finished':
    case 'executor_error':
    case 'storage_failed':
    case 'disconnected':
    case 'reconnected':
    case 'grace_over':
    case 'returned':
    case 'adopted':
    case 'restarted':
      return stay(state);
  }
}

function whileRunning(state: In<'running'>, input: RunInput): Step {
  switch (input.type) {
    case 'started':
      return go({ ...state, started: true });
    case 'finished':
      return ended(rowOf(state), endOf(input.outcome, state.stop));
    case 'executor_error':
      return ended(rowOf(state), failed(reasonOf('executor_failed')));
    case 'storage_failed':
      return broken(rowOf(state), input.reason);
    case 'cancel':
      return stop(state, input.reason);
    case 'shutdown':
      // A worker's run goes on without this server, and is adopted by the next.
      return state.local ? stop(state, 'shutdown') : stay(state);
    case 'disconnected':
      return state.local
        ? stay(state)
        : go(
            { at: 'disconnected', adopted: false, started: state.started, stop: state.stop },
            { do: 'mark', status: 'disconnected' },
          );
    case 'returned':
      if (state.local || state.started) return stay(state);
      return state.stop === null
        ? go(QUEUED, { do: 'requeue', uncommit: true })
        : ended(rowOf(state), stopped(state.stop));
    case 'removed':
    case 'rekeyed':
      return state.local ? stay(state) : cutOff(rowOf(state), input.reason);
    case 'adopted':
      return state.local
        ? stay(state)
        : go(
            { at: 'disconnected', adopted: true, started: state.started, stop: null },
            { do: 'mark', status: 'disconnected' },
            { do: 'adopt' },
          );
    case 'restarted':
      return state.local ? ended(rowOf(state), lost(reasonOf('server_restarted'))) : stay(state);
    case 'row_lost':
      return go({ at: 'gone' }, { do: 'abort', reason: 'lost' }, { do: 'forget' });
    case 'placed':
    case 'committed':
    case 'commit_failed':
    case 'reconnected':
    case 'grace_over':
      return stay(state);
  }
}

function whileDisconnected(state: In<'disconnected'>, input: RunInput): Step {
  switch (input.type) {
    case 'reconnected':
      return go(
        { at: 'running', local: false, started: state.started, stop: state.stop },
        { do: 'mark', status: 'running' },
      );
    case 'finished':
      return ended(rowOf(state), endOf(input.outcome, state.stop));
    case 'executor_error':
      return ended(rowOf(state), failed(reasonOf('executor_failed')));
    case 'storage_failed':
      return broken(rowOf(state), input.reason);
    case 'grace_over':
    case 'removed':
    case 'rekeyed':
      return cutOff(rowOf(state), input.reason);
    case 'cancel':
      return stop(state, input.reason);
    case 'shutdown':
      // One that did not come back since this server began would have to be adopted twice: its time is over.
      return state.adopted ? cutOff(rowOf(state), reasonOf('server_stopped')) : stay(state);
    case 'adopted':
      return go({ ...state, adopted: true }, { do: 'adopt' });
    case 'row_lost':
      return go({ at: 'gone' }, { do: 'abort', reason: 'lost' }, { do: 'forget' });
    case 'placed':
    case 'committed':
    case 'commit_failed':
    case 'started':
    case 'disconnected':
    case 'returned':
    case 'restarted':
      return stay(state);
  }
}

/** What the row may say: of a run elsewhere the last mark may not have been stored. */
function rowOf(state: In<'running'> | In<'disconnected'>): readonly ActiveStatus[] {
  return state.at === 'running' && state.local ? ['running'] : ['running', 'disconnected'];
}

function stay(state: RunState): Step {
  return { state, effects: [] };
}

function go(state: RunState, ...effects: readonly RunEffect[]): Step {
  return { state, effects };
}

function ended(from: readonly ActiveStatus[], end: RunEnd): Step {
  return go({ at: 'ended', status: end.status }, { do: 'end', from, end });
}

/** Ends it without waiting for the executor, which has nobody left to listen to. */
function cutOff(from: readonly ActiveStatus[], reason: Reason): Step {
  const end = lost(reason);
  return go({ at: 'ended', status: end.status }, { do: 'abort', reason: 'lost' }, { do: 'end', from, end });
}

/** Ends it as failed and has the executor stop. */
function broken(from: readonly ActiveStatus[], reason: Reason): Step {
  const end = failed(reason);
  return go({ at: 'ended', status: end.status }, { do: 'abort', reason: 'lost' }, { do: 'end', from, end });
}

/** The first reason to stop counts. */
function stop(state: In<'running'> | In<'disconnected'>, reason: StopReason): Step {
  return state.stop === null ? go({ ...state, stop: reason }, { do: 'abort', reason }) : stay(state);
}

function stopped(by: StopReason): RunEnd {
  const status = by === 'user' || by === 'budget' ? 'cancelled' : 'interrupted';
  const reason = by === 'shutdown' ? reasonOf('server_stopped') : null;
  return stoppedAs(status, reason?.message ?? null, reason);
}

function lost(reason: Reason): RunEnd {
  return stoppedAs('interrupted', reason.message, reason);
}

function stoppedAs(status: 'cancelled' | 'interrupted', error: string | null, reason: RunEnd['reason']): RunEnd {
  return { status, error, reason: coded(reason), event: { type: 'execution_stopped', payload: { reason: status } } };
}

function failed(reason: Reason): RunEnd {
  const { code, params, message: error } = reason;
  return {
    status: 'failed',
    error,
    reason: { code, params },
    event: { type: 'execution_error', payload: { error, code, params } },
  };
}

/** How an executor's report is filed. A run that had to be ended by force because it did not stop was stopped all the same. */
function endOf(outcome: EndReport, asked: StopReason | null): RunEnd {
  const { status, error, failed_nodes, skipped_nodes } = outcome;
  // Reports may carry more than the contract says.
  const reason = coded(outcome.reason);
  switch (status) {
    case 'succeeded':
      return { status, error: null, reason: null, event: { type: 'execution_complete', payload: null } };
    case 'cancelled':
    case 'interrupted':
      return asked === null ? stoppedAs(status, error, reason) : stopped(asked);
    case 'failed':
      if (asked !== null && reason?.code === 'run_unresponsive') {
        return { ...stopped(asked), error, reason };
      }
      if (failed_nodes.length > 0 && reason?.code === PARTLY_FAILED) {
        return {
          status,
          error,
          reason,
          event: { type: 'execution_complete', payload: { failed_nodes, skipped_nodes } },
        };
      }
      return failedWith(error ?? 'The run failed', reason);
  }
}

/** The engine's word for a run that went on without the nodes that failed. */
const PARTLY_FAILED = 'nodes_failed';

function failedWith(error: string, reason: RunEnd['reason']): RunEnd {
  return { status: 'failed', error, reason, event: { type: 'execution_error', payload: { error, ...reason } } };
}

function coded(reason: RunEnd['reason']): RunEnd['reason'] {
  return reason && { code: reason.code, params: reason.params };
}
