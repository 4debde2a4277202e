import type { Run, RunEvent } from '../client/api';

/** What is shown of a run that has ended. */
export type EndedRun = Pick<Run, 'id' | 'status' | 'error' | 'final_metrics' | 'started_at' | 'finished_at'>;

/** How a run ended, as its last event tells; null for every other event. */
export function endOf(id: string, { type, payload, ts }: RunEvent, startedAt: string | null): EndedRun | null {
  const said = (payload ?? {}) as {
    readonly failed_nodes?: readonly string[];
    readonly error?: string;
    readonly reason?: 'cancelled' | 'interrupted';
  };
  const ended = (status: Run['status'], error: string | null): EndedRun => ({
    id,
    status,
    error,
    final_metrics: [],
    started_at: startedAt,
    finished_at: ts,
  });
  switch (type) {
    case 'execution_complete':
      if (!said.failed_nodes?.length) return ended('succeeded', null);
      return ended('failed', `Nodes failed: ${said.failed_nodes.join(', ')}`);
    case 'execution_error':
      return ended('failed', said.error ?? null);
    case 'execution_stopped':
      return ended(said.reason === 'cancelled' ? 'cancelled' : 'interrupted', null);
    default:
      return null;
  }
}
