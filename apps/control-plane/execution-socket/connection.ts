import type { Socket } from 'node:net';
import { CodedError } from '@cdui/protocol';
import type { Logger } from '@nestjs/common';
import type { RawData, WebSocket } from 'ws';
import type { EventLog } from '../events/event-log';
import type { CanvasSession, CanvasSessions, Runs } from '../runs/runs';
import type { WorkerRegistry } from '../workers/worker-registry';
import { feed } from './feed';
import type { ControlFrame } from './frames';
import { keepAlive } from './heartbeat';
import { Outlet } from './outlet';
import { type SocketRequest, socketRequest, type Topic } from './requests';
import { ChangeWatch } from './change-watch';

export interface ConnectionParts {
  readonly runs: Runs;
  readonly log: EventLog;
  readonly sessions: CanvasSessions;
  readonly workers: WorkerRegistry;
  readonly logger: Logger;
  readonly pingIntervalMs?: number;
}

/** The run a socket follows, and how to stop following it. */
interface Attachment {
  readonly runId: string;
  readonly stop: AbortController;
}

/** One socket of `/ws/execution`: a view over the log of a run, and a canvas that executes. Requests are met one after another. */
export class ExecutionConnection {
  private readonly outlet: Outlet;
  private attachment: Attachment | null = null;
  private session: CanvasSession | null = null;
  private readonly watches = new Map<Topic, ChangeWatch>();
  private readonly waiting: RawData[] = [];
  private working = false;
  private closed = false;
  private feeding: Promise<void> = Promise.resolve();

  constructor(
    private readonly socket: WebSocket,
    carrier: Socket,
    private readonly parts: ConnectionParts,
  ) {
    this.outlet = new Outlet(socket, carrier);
    const stopPings = keepAlive(socket, carrier, parts.pingIntervalMs);
    socket.on('message', (data, isBinary) => this.receive(data, isBinary));
    // What broke it is said by its close as well.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      stopPings();
      this.close();
    });
  }

  private receive(data: RawData, isBinary: boolean): void {
    if (isBinary) {
      void this.say(errorFrame(new CodedError('invalid_message', 'Messages are JSON text, not binary', { field: '' })));
      return;
    }
    this.waiting.push(data);
    if (!this.working) void this.work();
  }

  /** While requests are met none are read: a client that asks faster than it reads answers is slowed down, not remembered. */
  private async work(): Promise<void> {
    this.working = true;
    this.socket.pause();
    for (let data = this.waiting.shift(); data !== undefined && !this.closed; data = this.waiting.shift()) {
      await this.meet(data as Buffer);
    }
    this.working = false;
    this.socket.resume();
  }

  private async meet(bytes: Buffer): Promise<void> {
    let executing = false;
    try {
      const request = socketRequest(bytes);
      executing = request.action === 'execute';
      await this.act(request);
    } catch (error) {
      const coded = error instanceof CodedError ? error : this.defect(error);
      await this.say(executing ? rejection(coded) : errorFrame(coded));
    }
  }

  private async act(request: SocketRequest): Promise<void> {
    switch (request.action) {
      case 'execute':
        return this.execute(request.message);
      case 'attach':
        return this.attach(request.runId, request.cursor);
      case 'detach':
        return this.detach();
      case 'cancel':
        return this.cancel(request.runId);
      case 'clear_cache':
        this.session?.clearCache();
        return this.say({ type: 'cache_cleared' });
      case 'watch':
        for (const topic of request.topics) this.watch(topic);
        return this.say({ type: 'watching', topics: [...this.watches.keys()] });
      case 'unwatch':
        for (const topic of request.topics) this.unwatch(topic);
        return this.say({ type: 'watching', topics: [...this.watches.keys()] });
    }
  }

  private async execute(message: Readonly<Record<string, unknown>>): Promise<void> {
    this.session ??= this.parts.sessions.open();
    const { run_id: runId, status } = await this.session.execute(message);
    await this.follow(runId, 0, status);
  }

  private async attach(runId: string, cursor: number): Promise<void> {
    const { status } = await this.parts.runs.state(runId);
    const newest = cursor > 0 ? await this.parts.log.newest(runId) : 0;
    if (cursor > newest) throw beyond(runId, cursor, newest);
    await this.follow(runId, cursor, status);
  }

  /** Another run's events end first: frames of two runs never mix on a socket. */
  private async follow(runId: string, cursor: number, status: string): Promise<void> {
    this.attachment?.stop.abort();
    if (this.closed) return;
    const stop = new AbortController();
    this.attachment = { runId, stop };
    await this.say({ type: 'attached', run_id: runId, cursor, status });
    const source = { log: this.parts.log, state: (id: string) => this.stateOf(id) };
    this.feeding = feed(source, this.outlet, { id: runId, cursor }, stop.signal)
      .then((end) => (end === 'gone' ? this.say(errorFrame(deleted(runId))) : undefined))
      .catch((error: unknown) => {
        void this.say(errorFrame(error instanceof CodedError ? error : this.defect(error)));
      });
  }

  /** Resolves when all events of the run it follows are sent, if that run has ended. */
  caughtUp(): Promise<void> {
    return this.feeding;
  }

  private async detach(): Promise<void> {
    const { attachment } = this;
    attachment?.stop.abort();
    this.attachment = null;
    await this.say({ type: 'detached', run_id: attachment?.runId ?? null });
  }

  private async cancel(asked: string | null): Promise<void> {
    const runId = asked ?? this.attachment?.runId;
    if (runId === undefined) return this.say({ type: 'execution_stopped', reason: 'not_running' });
    const { status, cancelled } = await this.parts.runs.cancel(runId);
    await this.say({ type: 'cancel_ack', run_id: runId, status, cancelled });
  }

  private async stateOf(runId: string): Promise<Awaited<ReturnType<Runs['state']>> | null> {
    try {
      return await this.parts.runs.state(runId);
    } catch (error) {
      if (error instanceof CodedError && error.code === 'run_not_found') return null;
      throw error;
    }
  }

  private watch(topic: Topic): void {
    if (this.watches.has(topic)) return;
    const { runs, workers } = this.parts;
    const watch =
      topic === 'runs'
        ? new ChangeWatch(runs.changes, 'run_changed', this.outlet)
        : new ChangeWatch(workers.changes, 'worker_changed', this.outlet);
    this.watches.set(topic, watch);
  }

  private unwatch(topic: Topic): void {
    this.watches.get(topic)?.end();
    this.watches.delete(topic);
  }

  private say(frame: ControlFrame): Promise<void> {
    return this.outlet.send([JSON.stringify(frame)]);
  }

  /** Runs belong to the server: what this socket started goes on. */
  private close(): void {
    this.closed = true;
    this.waiting.length = 0;
    this.attachment?.stop.abort();
    for (const topic of [...this.watches.keys()]) this.unwatch(topic);
    this.session?.close().catch((error: unknown) => this.defect(error));
    this.session = null;
  }

  private defect(error: unknown): CodedError {
    this.parts.logger.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return new CodedError('internal_error', 'The server failed on this request; its log has the details');
  }
}

function errorFrame({ message, code, params }: CodedError): ControlFrame {
  return { type: 'error', error: message, code, params };
}

function rejection({ message, code, params }: CodedError): ControlFrame {
  return { type: 'execution_error', error: message, rejected: true, code, params };
}

/** Nothing can have been shown up to there: whoever waits from there on would miss what comes before. */
function beyond(runId: string, cursor: number, newest: number): CodedError {
  const message = `The cursor ${cursor} is beyond the newest event of run ${runId}: attach with ${newest}, or with 0 to see all`;
  return new CodedError('cursor_beyond_newest', message, { run_id: runId, cursor, newest });
}

function deleted(runId: string): CodedError {
  return new CodedError('run_not_found', `Run ${runId} was deleted`, { run_id: runId });
}
