import type { ExecutionOutcome, ExecutionRequest, Executor } from '@cdui/execution';
import type { RunHostMessage } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import type { RunHostsOptions } from './run-hosts';
import { RunHosts } from './run-hosts';

/** Executes runs in threads of this process: a run host and a runtime for each, so that node code never holds up the event loop. */
export class InProcessExecutor implements Executor {
  private readonly hosts: RunHosts;

  constructor(options: RunHostsOptions = {}) {
    this.hosts = new RunHosts(options);
  }

  /** Starts a host ahead of need. */
  prepare(): void {
    this.hosts.prepare();
  }

  async run(request: ExecutionRequest): Promise<ExecutionOutcome> {
    if (request.kind === 'adopt') {
      throw new CodedError(
        'adopt_not_possible',
        `Run ${request.runId} cannot be adopted: its thread ended with its process`,
        {
          run_id: request.runId,
        },
      );
    }
    const { runId, graph, options, folders, inputs, sinks, signal } = request;
    let facts: ExecutionOutcome['facts'] = null;
    const take = (message: RunHostMessage): boolean => {
      switch (message.type) {
        case 'run_started':
          return sinks.started();
        case 'event':
          return sinks.emit(message.event, message.at_ms);
        case 'metrics':
          return sinks.recordMetrics(message.points, message.at_ms);
        case 'artifact':
          return sinks.recordArtifact(message.artifact, message.at_ms);
        case 'warning':
          return sinks.warn(message.warning, message.at_ms);
        case 'console':
          return sinks.console(message.text);
        case 'run_facts':
          facts = message.facts;
          return true;
        case 'ready':
        case 'run_finished':
          return true;
      }
    };
    const { reason, ...outcome } = await this.hosts.run(
      { type: 'start', run_id: runId, graph, options, folders, ...(inputs && { inputs }) },
      { take, drained: () => sinks.drained() },
      signal,
    );
    return { ...outcome, facts, reason: reason && { ...reason, message: outcome.error ?? reason.code } };
  }

  /** Ends idle hosts and waits for those that are ending. */
  close(): Promise<void> {
    return this.hosts.close();
  }
}
