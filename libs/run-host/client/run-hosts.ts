import type { KeptWeights, Reason, RunHostCommand, RunHostMessage, RunOutcome, StopReason } from '@cdui/protocol';
import { FLOW_GRANT } from './flow';
import type { HostThreadOptions } from './host-thread';
import { HostThread } from './host-thread';

export type StartCommand = Extract<RunHostCommand, { type: 'start' }>;

/** Takes in what a run reports. */
export interface MessageReader {
  /** Whether the reader is below its high-water mark. */
  take(message: RunHostMessage): boolean;
  drained(): Promise<void>;
}

export interface RunHostsOptions {
  /** Whether one host is started ahead of need, and another when a run took it. */
  readonly spare?: boolean;
  readonly customNodes?: string | null;
  readonly presets?: string | null;
  readonly threads?: number;
  /** Most MiB of JavaScript values that the node code of a run may hold. */
  readonly heapMb?: number;
  /** How long a run that was asked to stop may go on. */
  readonly graceMs?: number;
}

export const DEFAULT_GRACE_MS = 5_000;
/** A run that began goes on alone for so long before the next spare is started. */
const SPARE_DELAY_MS = 250;
/** How long a session whose thread is busy with node code may leave a question open. */
const ANSWER_MS = 2_000;

/** Run hosts in threads of this process, one for each run, ended with it. */
export class RunHosts {
  private spare: HostThread | null = null;
  private soon: NodeJS.Timeout | null = null;
  private readonly ending = new Set<Promise<void>>();
  private readonly sessions = new Set<HostSession>();
  private closed = false;

  constructor(private readonly options: RunHostsOptions = {}) {
    if (options.spare) this.prepare();
  }

  /** Starts a spare host unless there is one: a run that finds one begins some tenths of a second earlier. */
  prepare(): void {
    if (this.closed || this.spare !== null) return;
    const spare = this.start(false);
    spare.onLost = () => {
      if (this.spare === spare) this.spare = null;
      void this.end(spare);
    };
    this.spare = spare;
  }

  /**
   * Executes a run in a host of its own. Never rejects for what the run does: a host that is lost, or that goes on after cancel and
   * grace, is a failed outcome with a reason of its own.
   */
  async run(command: StartCommand, reader: MessageReader, signal: AbortSignal): Promise<RunOutcome> {
    const host = this.spare ?? this.start(false);
    this.spare = null;
    try {
      const watched = {
        take: (message: RunHostMessage) => this.replaceSpare(message, reader),
        drained: () => reader.drained(),
      };
      return await execute(host, command, watched, { signal, graceMs: this.graceMs });
    } finally {
      void this.end(host);
    }
  }

  /** A host that a canvas session keeps from run to run, with its execution cache. */
  session(): HostSession {
    const session = new HostSession({
      start: () => this.start(true),
      end: (host) => this.end(host),
      graceMs: this.graceMs,
      closed: () => void this.sessions.delete(session),
    });
    this.sessions.add(session);
    return session;
  }

  /** Drops the modules that sessions keep for a graph, or for some of its nodes. How many there were. */
  async resetWeights(graphId: string, nodeIds?: readonly string[]): Promise<number> {
    const dropped = await Promise.all([...this.sessions].map((session) => session.resetWeights(graphId, nodeIds)));
    return dropped.reduce((sum, count) => sum + count, 0);
  }

  /** The modules that sessions keep from run to run. */
  async listWeights(): Promise<readonly KeptWeights[]> {
    return (await Promise.all([...this.sessions].map((session) => session.listWeights()))).flat();
  }

  /** Ends every host that is idle or done, and waits for all threads. Runs that still go on must be stopped first. */
  async close(): Promise<void> {
    this.closed = true;
    if (this.soon) clearTimeout(this.soon);
    if (this.spare) void this.end(this.spare);
    this.spare = null;
    await Promise.all([...this.sessions].map((session) => session.close()));
    while (this.ending.size > 0) await Promise.all(this.ending);
  }

  private get graceMs(): number {
    return this.options.graceMs ?? DEFAULT_GRACE_MS;
  }

  // The next spare starts when the run is well under way: loading it takes both the event loop and the processor from what the run says first.
  private replaceSpare(message: RunHostMessage, reader: MessageReader): boolean {
    if (message.type === 'run_started' && this.options.spare) this.prepareSoon();
    return reader.take(message);
  }

  private prepareSoon(): void {
    this.soon ??= setTimeout(() => {
      this.soon = null;
      this.prepare();
    }, SPARE_DELAY_MS);
  }

  private start(session: boolean): HostThread {
    const { customNodes = null, presets = null, threads, heapMb } = this.options;
    const options: HostThreadOptions = {
      session,
      customNodes,
      presets,
      ...(threads !== undefined && { threads }),
      ...(heapMb !== undefined && { heapMb }),
    };
    return new HostThread(options);
  }

  private end(host: HostThread): Promise<void> {
    const ended = host.close(this.graceMs).finally(() => this.ending.delete(ended));
    this.ending.add(ended);
    return ended;
  }
}

/** After a run that ended so, its thread is gone or cannot be trusted. */
const BROKEN: ReadonlySet<string | undefined> = new Set([
  'run_unresponsive',
  'run_out_of_memory',
  'run_host_failed',
  'run_host_exited',
  'uncaught_error',
]);

interface SessionTools {
  readonly start: () => HostThread;
  readonly end: (host: HostThread) => Promise<void>;
  readonly graceMs: number;
  /** Nobody uses the session any more. */
  readonly closed: () => void;
}

/**
 * A host that serves run after run, one at a time. A run that broke it gives the next one a fresh host, with an empty cache and no persistent
 * weights.
 */
export class HostSession {
  private host: HostThread | null;

  constructor(private readonly tools: SessionTools) {
    this.host = tools.start();
  }

  async run(command: StartCommand, reader: MessageReader, signal: AbortSignal): Promise<RunOutcome> {
    const host = this.host?.loss === null ? this.host : this.tools.start();
    this.host = host;
    const outcome = await execute(host, command, reader, { signal, graceMs: this.tools.graceMs });
    if (BROKEN.has(outcome.reason?.code)) await this.endHost();
    return outcome;
  }

  /** Drops the modules that it keeps for a graph, or for some of its nodes. How many there were; 0 too when it is too busy to say. */
  async resetWeights(graphId: string, nodeIds?: readonly string[]): Promise<number> {
    const question = { type: 'reset_weights', graph_id: graphId, ...(nodeIds && { node_ids: nodeIds }) } as const;
    return (await this.host?.ask(question, 'weights_reset', ANSWER_MS))?.evicted ?? 0;
  }

  /** The modules that it keeps from run to run; none when it is too busy to say. */
  async listWeights(): Promise<readonly KeptWeights[]> {
    return (await this.host?.ask({ type: 'list_weights' }, 'weights', ANSWER_MS))?.weights ?? [];
  }

  /** Forgets the results of earlier runs. */
  clearCache(): void {
    this.host?.send({ type: 'clear_cache' });
  }

  close(): Promise<void> {
    this.tools.closed();
    return this.endHost();
  }

  private async endHost(): Promise<void> {
    const { host } = this;
    this.host = null;
    if (host) await this.tools.end(host);
  }
}

function execute(
  host: HostThread,
  command: StartCommand,
  reader: MessageReader,
  { signal, graceMs }: { readonly signal: AbortSignal; readonly graceMs: number },
): Promise<RunOutcome> {
  const begun = performance.now();
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined;
    let taken = 0;
    const running = new Set<string>();
    const finish = (outcome: RunOutcome): void => {
      clearTimeout(grace);
      signal.removeEventListener('abort', stop);
      host.onMessage = () => undefined;
      host.onLost = () => undefined;
      resolve(outcome);
    };
    const fail = (reason: Reason): void => finish(failed(reason, (performance.now() - begun) / 1000));
    const stop = (): void => {
      host.cancel(command.run_id, stopReason(signal.reason));
      grace = setTimeout(() => {
        void host.close(0);
        fail({
          code: 'run_unresponsive',
          params: { grace_s: graceMs / 1000 },
          message: `The run did not stop within ${graceMs / 1000} s after it was asked to, and was ended`,
        });
      }, graceMs);
    };
    if (host.loss) {
      fail(host.loss);
      return;
    }
    host.onLost = (loss) => fail(during(loss, [...running]));
    host.onMessage = (message) => {
      if (message.type === 'ready') return;
      if (message.type === 'run_finished') {
        finish(message.outcome);
        return;
      }
      if (message.type === 'event' && message.event.type === 'node_status') {
        const { node_id, status } = message.event.payload;
        if (status === 'running') running.add(node_id);
        else running.delete(node_id);
      }
      const below = reader.take(message);
      taken += 1;
      if (taken % FLOW_GRANT > 0) return;
      if (below) host.send({ type: 'resume' });
      else void reader.drained().then(() => host.send({ type: 'resume' }));
    };
    host.send(command);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** A lost thread cannot say what it was doing; the nodes that had begun and not ended can. */
function during({ code, params, message }: Reason, nodes: readonly string[]): Reason {
  if (nodes.length === 0) return { code, params, message };
  const names = nodes.map((node) => `"${node}"`).join(', ');
  return { code, params: { ...params, nodes }, message: `${message} (while ${names} ran)` };
}

function stopReason(reason: unknown): StopReason {
  return reason === 'budget' || reason === 'shutdown' || reason === 'lost' ? reason : 'user';
}

function failed(reason: Reason, seconds: number): RunOutcome {
  const { code, params, message } = reason;
  const none = { failed_nodes: [], skipped_nodes: [], peak_memory: [] };
  return { status: 'failed', error: message, reason: { code, params }, ...none, seconds };
}
