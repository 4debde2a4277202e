import type { ReasonCode, ReasonParams, RunOutcome } from '@cdui/protocol';
import { reasonOf } from '@cdui/protocol';
import type { StopAuthor } from './launcher';

/** How a run's process ended, and what is known about it. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** Set when the agent ended it because it did not stop in time. */
  readonly forced: { readonly by: StopAuthor; readonly seconds: number } | null;
  /** Whether the system killed something for want of memory meanwhile. */
  readonly oom: boolean;
  /** The end of what it printed. */
  readonly output: string;
  /** How long it ran. */
  readonly seconds: number;
}

/** What V8 and the native allocator print before they give up. */
const OUT_OF_MEMORY = /heap out of memory|std::bad_alloc|Allocation failed/;
/** How a shell, and a process that catches its own abort, show SIGABRT. */
const ABORTED = 134;

/** The outcome of a run whose process ended without one. */
export function outcomeOfEnd(end: ProcessEnd): RunOutcome {
  const { code, params } = reasonOfEnd(end);
  return madeOutcome(code, params, {
    status: end.forced && end.forced.by !== 'cancel' ? 'interrupted' : 'failed',
    output: end.forced ? '' : end.output,
    seconds: end.seconds,
  });
}

/** An outcome that the agent states in place of the run's process. */
export function madeOutcome(
  code: ReasonCode,
  params: ReasonParams,
  {
    status = 'failed',
    output = '',
    seconds = 0,
  }: Partial<Pick<RunOutcome, 'status' | 'seconds'>> & { output?: string },
): RunOutcome {
  const { message } = reasonOf(code, params);
  const error = output.trim() === '' ? message : `${message}\nThe end of its output:\n${output.trim()}`;
  const none = { failed_nodes: [], skipped_nodes: [], peak_memory: [] };
  return { status, error, reason: { code, params }, ...none, seconds };
}

/** What the process reported, when the agent had it stop: nobody wanted the run itself to. */
export function stoppedByAgent(outcome: RunOutcome, by: Exclude<StopAuthor, 'cancel'>): RunOutcome {
  if (outcome.status !== 'cancelled' && outcome.status !== 'interrupted') return outcome;
  const { code, params, message } = reasonOf(by);
  return { ...outcome, status: 'interrupted', error: message, reason: { code, params } };
}

function reasonOfEnd({ code, signal, forced, oom, output }: ProcessEnd): {
  readonly code: ReasonCode;
  readonly params: ReasonParams;
} {
  if (forced && forced.by !== 'cancel') return { code: forced.by, params: {} };
  if (forced) return { code: 'run_unresponsive', params: { seconds: forced.seconds } };
  if (signal === 'SIGKILL') return { code: 'run_killed', params: oom ? { likely: 'oom' } : {} };
  if ((signal === 'SIGABRT' || code === ABORTED) && OUT_OF_MEMORY.test(output)) {
    return { code: 'run_out_of_memory', params: { memory: /heap/.test(output) ? 'heap' : 'allocator' } };
  }
  if (signal !== null) return { code: 'run_signal', params: { signal } };
  return { code: 'run_exit', params: { code } };
}
