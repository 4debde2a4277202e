import type { ExecutionOutcome, ExecutionRequest, Executor } from '@cdui/execution';
import type { RunHostMessage } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import type { HostSession, RunHostsOptions } from './run-hosts';
import { RunHosts } from './run-hosts';

/** Executes runs in threads of this process: a run host and a runtime for each, so that node code never holds up the event loop. */
export class InProcessExecutor implements Executor {
  readonly hosts: RunHosts;

  constructor(options: RunHostsOptions = {}) {
    this.hosts = new RunHosts(options);
  }

  /** Starts a host ahead of need. */
  prepare(): void {
    this.hosts.prepare();
  }

  run(request: ExecutionRequest): Promise<ExecutionOutcome> {
    return runIn(this.hosts, request);
  }

  /** For the runs of one canvas, one at a time: they share a host, with its execution cache and persistent weights. */
  session(): SessionExecutor {
    return new SessionExecutor(this.hosts);
  }

  /** Ends idle hosts and waits for those that are ending. */
  close(): Promise<void> {
    return this.hosts.close();
  }
}

/** Executes the runs of a canvas in a host that it keeps; the host is started when it is first needed. */
export class SessionExecutor implements Executor {
  private session: HostSession | null = null;

  constructor(private readonly hosts: RunHosts) {}

  run(request: ExecutionRequest): Promise<ExecutionOutcome> {
    this.session ??= this.hosts.session();
    return runIn(this.session, request);
  }

  /** Forgets the results of earlier runs. */
  clearCache(): void {
    this.session?.clearCache();
  }

  /** Ends the host. Nothing may run in it. */
  async close(): Promise<void> {
    const { session } = this;
    this.session = null;
    await session?.close();
  }
}

async function runIn(host: Pick<RunHosts, 'run'>, request: ExecutionRequest): Promise<ExecutionOutcome> {
  if (request.kind === 'adopt') {
    const { runId } = request;
    const message = `Run ${runId} cannot be adopted: its thread ended with its process`;
    throw new CodedError('adopt_not_possible', message, { run_id: runId });
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
        facts = { ...facts, ...message.facts };
        return true;
      case 'ready':
      case 'run_finished':
        return true;
    }
  };
  const { reason, ...outcome } = await host.run(
    { type: 'start', run_id: runId, graph, options, folders, ...(inputs && { inputs }) },
    { take, drained: () => sinks.drained() },
    signal,
  );
  return { ...outcome, facts, reason: reason && { ...reason, message: outcome.error ?? reason.code } };
}
