import type { ExecutionOutcome, ExecutionRequest, Executor, RunReturned } from '@cdui/execution';
import type { Reason } from '@cdui/protocol';
import { reasonOf } from '@cdui/protocol';
import { RemoteRun } from './remote-run';
import type { Worker } from './worker';
import type { WorkerWorld } from './world';

/** Executes runs on workers: an assignment goes out, and what comes back is handed to the run's own sinks. */
export class WorkerExecutor implements Executor {
  constructor(
    private readonly world: WorkerWorld,
    private readonly worker: (id: string) => Worker,
  ) {}

  async run(request: ExecutionRequest): Promise<ExecutionOutcome | RunReturned> {
    const { runId, place, placement } = request;
    if (!place) throw new Error(`Run ${runId} has no place to report to`);
    const worker = this.worker(placement.worker);
    if (request.kind === 'start' && !worker.online) {
      return returned(reasonOf('worker_not_connected', { worker: worker.id }));
    }
    // Drained since the run got its place: an assignment behind that would be refused.
    if (request.kind === 'start' && worker.draining) {
      return returned(reasonOf('worker_draining', { worker: worker.id }));
    }
    const missing = request.kind === 'start' ? worker.lacks(request.nodeTypes ?? []) : [];
    if (missing.length > 0) return refused(reasonOf('worker_missing_types', { worker: worker.id, types: missing }));
    const run = new RemoteRun({ ...request, place }, worker, this.world);
    worker.runs.set(runId, run);
    run.onGone(() => {
      if (worker.runs.get(runId) === run) worker.runs.delete(runId);
    });
    run.begin();
    return run.result;
  }
}

/** The worker was told nothing of it. */
function returned(reason: Reason): RunReturned {
  return { status: 'returned', reason, unanswered: false };
}

/** Its node types changed while the run waited. */
function refused(reason: Reason): ExecutionOutcome {
  const nothing = { failed_nodes: [], skipped_nodes: [], peak_memory: [], facts: null, seconds: 0 };
  return { status: 'failed', error: reason.message, reason, ...nothing };
}
