import type { ExecutionOutcome, ExecutionRequest, Executor } from '@cdui/execution';

type Status = ExecutionOutcome['status'];

/** A run that somebody executes, as far as the test lets it. */
export interface FakeExecution {
  readonly request: ExecutionRequest;
  /** Its graph begins to execute. */
  begin(): void;
  report(nodeId: string): void;
  end(status?: Status): void;
  crash(): void;
}

/** Executes nothing: runs go on until they are told to end. */
export class FakeExecutor implements Executor {
  readonly running = new Map<string, FakeExecution>();
  /** Every request in the order of arrival. */
  readonly requests: ExecutionRequest[] = [];
  /** The most that ran at a time, on each device. */
  readonly most = new Map<string, number>();

  run(request: ExecutionRequest): Promise<ExecutionOutcome> {
    const { runId, sinks } = request;
    this.requests.push(request);
    return new Promise((resolve, reject) => {
      const leave = (): void => void this.running.delete(runId);
      this.running.set(runId, {
        request,
        begin: () => void sinks.started(),
        report: (nodeId) =>
          void sinks.emit({ type: 'node_status', payload: { node_id: nodeId, status: 'completed' } }, 1),
        end: (status = 'succeeded') => {
          leave();
          resolve(outcome(status));
        },
        crash: () => {
          leave();
          reject(new Error('boom'));
        },
      });
      for (const device of request.placement.devices) {
        this.most.set(device, Math.max(this.most.get(device) ?? 0, this.on(device)));
      }
    });
  }

  on(device: string): number {
    return [...this.running.values()].filter(({ request }) => request.placement.devices.includes(device)).length;
  }

  /** The run with this id. */
  get(id: string): FakeExecution {
    const execution = this.running.get(id);
    if (!execution) throw new Error(`Run ${id} does not execute`);
    return execution;
  }
}

function outcome(status: Status): ExecutionOutcome {
  const none = { failed_nodes: [], skipped_nodes: [], peak_memory: [] };
  const reason = status === 'failed' ? { code: 'node_failed', params: {}, message: 'no' } : null;
  return { status, error: status === 'failed' ? 'no' : null, reason, ...none, seconds: 1, facts: { runtime: 'fake' } };
}
