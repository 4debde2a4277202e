import type { Reason, RunOutcome } from '@cdui/protocol';

/** How a run ends that was not executed to its end. */
export function outcomeOf(status: RunOutcome['status'], reason: Reason | null): RunOutcome {
  return {
    status,
    error: reason?.message ?? null,
    reason: reason && { code: reason.code, params: reason.params },
    failed_nodes: [],
    skipped_nodes: [],
    peak_memory: [],
    seconds: 0,
  };
}

const encoder = new TextEncoder();

/** The members of a `run_finished`, as its run's process would have written them. */
export function finishedMembers(outcome: RunOutcome): Uint8Array {
  return encoder.encode(`"outcome":${JSON.stringify(outcome)}}`);
}
