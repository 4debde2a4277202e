import type {
  AgentFrame,
  HelloFrame,
  NumberedFrame,
  Reason,
  RejectFrame,
  RunAliveFrame,
  RunFrameHead,
} from '@cdui/protocol';
import { reasonOf, shown, WORKER_CLOSE } from '@cdui/protocol';
import { Subject } from 'rxjs';
import type { KnownWorker } from '../runs/world';
import { Workers } from '../runs/world';
import { reject } from './handshake';
import { isLoopback } from './identities';
import { StrayRuns } from './stray-runs';
import type { WorkerCredential, WorkerTransport } from './transport';
import { Worker } from './worker';
import { type ConnectionOwner, WorkerConnection } from './worker-connection';
import { WorkerCounts } from './worker-counts';
import { WorkerExecutor } from './worker-executor';
import type { WorkerWorld } from './world';

/** A worker changed; `rev` grows with every change of any worker. */
export interface WorkerChange {
  readonly id: string;
  readonly rev: number;
}

/** Names that were rejected are remembered for people; an unbounded number of them would be a way to fill memory. */
const MAX_REJECTED = 256;
const GOING_AWAY = 1001;

/** The workers of this server: who is connected, what they have, and the frames that pass between them and runs. */
export class WorkerRegistry extends Workers implements ConnectionOwner {
  readonly executor: WorkerExecutor;
  readonly strays: StrayRuns;
  readonly counts = new WorkerCounts();
  private readonly subject = new Subject<WorkerChange>();
  readonly changes = this.subject.asObservable();
  private readonly workers = new Map<string, Worker>();
  private readonly connections = new Set<WorkerConnection>();
  private readonly rejected = new Map<string, RejectFrame>();
  private readonly listeners: ((worker: KnownWorker, hello: boolean) => void)[] = [];
  private revision = 0;
  private closing = false;

  constructor(private readonly world: WorkerWorld) {
    super();
    this.strays = new StrayRuns(world);
    this.executor = new WorkerExecutor(world, (id) => this.known(id));
  }

  /** Takes the workers that an earlier server knew: they are away. */
  async load(): Promise<void> {
    for (const stored of await this.world.workers.load()) {
      const worker = this.known(stored.id);
      if (worker.hello) continue;
      worker.remembered = stored;
      worker.devicesNow = stored.devices;
      worker.lastSeenAt = stored.lastSeenAt;
      this.changed(worker);
    }
  }

  get(id: string): Worker | null {
    return this.workers.get(id) ?? null;
  }

  list(): readonly Worker[] {
    return [...this.workers.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** The last refusal of each name that never became a worker. */
  get rejections(): ReadonlyMap<string, RejectFrame> {
    return this.rejected;
  }

  /** Sockets that are open, those without a hello included. */
  get connectionCount(): number {
    return this.connections.size;
  }

  watch(listener: (worker: KnownWorker, hello: boolean) => void): void {
    this.listeners.push(listener);
  }

  /**
   * Has a worker take no new runs, or take them again; those that it has go on. It holds until the opposite is asked for, or the worker connects
   * anew. Asking twice does no harm.
   */
  drain(worker: Worker, drained: boolean): void {
    if (worker.isDrained === drained) return;
    worker.isDrained = drained;
    const { id } = worker;
    this.world.log('info', `Worker ${id} ${drained ? 'is drained' : 'takes new runs again'}`, { worker: id });
    // Assignments that are on their way come before this; none is sent behind it.
    worker.send({ type: 'drain', draining: drained });
    this.changed(worker);
  }

  /** Takes a connection whose credential was accepted. */
  accept(transport: WorkerTransport, credential: WorkerCredential): void {
    const connection = new WorkerConnection(transport, credential, this.world, this);
    if (this.closing) connection.close(GOING_AWAY, 'The server stops');
    else this.connections.add(connection);
  }

  /** Ends all connections. Runs go on there and are taken over by the next server: nobody is told that they are gone. */
  close(): void {
    this.closing = true;
    for (const connection of [...this.connections]) connection.close(GOING_AWAY, 'The server stops');
    for (const { runs } of this.workers.values()) for (const run of runs.values()) run.forsake();
  }

  hello(connection: WorkerConnection, hello: HelloFrame): RejectFrame | null {
    const worker = this.known(hello.name);
    const { connection: before } = worker;
    if (before !== null && before !== connection) {
      if (before.credential.kind !== connection.credential.kind) {
        const reason = `Worker "${hello.name}" is connected with another kind of credential: start this agent with --name and another one`;
        return reject('name_taken', reason, { name: hello.name });
      }
      worker.connection = connection;
      before.close(WORKER_CLOSE.replaced, 'Another connection of this worker took its place');
      this.away(worker, reasonOf('connection_replaced'));
    }
    const { clock, machineId } = this.world;
    const isNew = before !== connection;
    worker.connection = connection;
    worker.hello = hello;
    worker.devicesNow = hello.devices;
    // Neither alone decides it: a tunnel makes a far agent look near, and anybody can say any machine's name.
    worker.sameHost = isLoopback(connection.address) && hello.machine_id !== null && hello.machine_id === machineId;
    worker.lastSeenAt = clock.now();
    worker.lastReject = null;
    this.rejected.delete(hello.name);
    if (isNew) {
      worker.isReady = false;
      worker.isDrained = false;
      if (worker.connectedAt !== null) this.counts.reconnects += 1;
      worker.connectedAt = clock.now();
      this.world.log('info', `Worker ${worker.id} connected from ${connection.address}`, { worker: worker.id });
    }
    worker.isDraining = hello.draining === true;
    worker.history.record(hello.devices, clock.now());
    this.remember(worker, hello);
    this.changed(worker);
    return null;
  }

  rejectedHello(name: string, rejection: RejectFrame): void {
    this.world.log('warn', `Worker ${shown(name)} was rejected: ${rejection.reason}`, { code: rejection.code });
    const worker = this.workers.get(name);
    if (worker) {
      worker.lastReject = rejection;
      this.changed(worker);
      return;
    }
    if (this.rejected.size >= MAX_REJECTED) this.rejected.delete([...this.rejected.keys()][0] ?? '');
    this.rejected.set(name, rejection);
  }

  frame(connection: WorkerConnection, frame: Exclude<AgentFrame, HelloFrame>): void {
    const worker = connection.name === null ? undefined : this.workers.get(connection.name);
    if (worker?.connection !== connection) return;
    this.counts.frames += 1;
    switch (frame.type) {
      case 'heartbeat':
        // One that does not say so takes runs.
        worker.isDraining = frame.draining === true;
        worker.devicesNow = frame.devices;
        worker.running = frame.running;
        worker.lastSeenAt = this.world.clock.now();
        worker.history.record(frame.devices, this.world.clock.now());
        this.changed(worker);
        return;
      case 'run_alive':
        this.alive(worker, frame);
        return;
      case 'console': {
        const run = worker.runs.get(frame.run_id);
        if (run?.attempt === frame.attempt) run.console(frame.offset, frame.bytes, frame.text);
        return;
      }
      case 'output_answer':
        return;
      default:
        this.numbered(worker, frame);
    }
  }

  brokenFrame(connection: WorkerConnection, { run_id: runId, attempt, seq }: RunFrameHead, problem: string): void {
    const worker = connection.name === null ? undefined : this.workers.get(connection.name);
    if (worker?.connection !== connection) return;
    const run = worker.runs.get(runId);
    if (run?.attempt === attempt) run.brokenFrame(seq, problem);
    this.strays.brokenFrame(worker, runId, attempt, seq);
  }

  closed(connection: WorkerConnection, reason: Reason): void {
    this.connections.delete(connection);
    const worker = connection.name === null ? undefined : this.workers.get(connection.name);
    // A connection that was replaced has nothing to say about its successor.
    if (worker?.connection !== connection) return;
    worker.connection = null;
    this.world.log('info', `Worker ${worker.id} is away: ${reason.message}`, { worker: worker.id, code: reason.code });
    if (!this.closing) this.away(worker, reason);
    this.changed(worker);
  }

  private remember({ id, lastSeenAt }: Worker, hello: HelloFrame): void {
    const { devices, capabilities, platform, version, protocol_version: protocolVersion } = hello;
    this.world.workers
      .keep({ id, devices, capabilities, platform, version, protocolVersion, lastSeenAt })
      .catch((error: unknown) => this.world.report(`Worker ${id} could not be remembered`, error));
  }

  private away(worker: Worker, reason: Reason): void {
    worker.isReady = false;
    // Whether it still drains is for its next hello to say; until then it is away.
    worker.isDraining = false;
    worker.running = [];
    this.strays.forget(worker.id);
    for (const run of [...worker.runs.values()]) run.connectionLost(reason);
  }

  private alive(worker: Worker, { runs }: RunAliveFrame): void {
    const theirs = new Map(runs.map((run) => [run.run_id, run]));
    for (const [runId, run] of [...worker.runs]) {
      const alive = theirs.get(runId);
      run.connectionBack(alive?.attempt === run.attempt ? alive : undefined);
    }
    for (const { run_id: runId, attempt } of runs) {
      if (worker.runs.get(runId)?.attempt === attempt) continue;
      this.strays.cancel(worker, runId, attempt);
    }
    worker.running = runs.map(({ run_id: runId }) => runId);
    const hello = !worker.isReady;
    worker.isReady = true;
    this.changed(worker, hello);
  }

  private numbered(worker: Worker, frame: NumberedFrame): void {
    const run = worker.runs.get(frame.run_id);
    if (run?.attempt !== frame.attempt) {
      this.strays.frame(worker, frame);
      return;
    }
    run.frame(frame);
    if (frame.type === 'run_finished' && frame.outcome.reason?.code === 'agent_draining') {
      worker.isDraining = true;
      this.changed(worker);
    }
  }

  /** A name that a run, or a hello, has; the worker may still be away. */
  private known(id: string): Worker {
    let worker = this.workers.get(id);
    if (!worker) this.workers.set(id, (worker = new Worker(id, this.world, this.counts)));
    return worker;
  }

  private changed(worker: Worker, hello = false): void {
    for (const listener of this.listeners) listener(worker, hello);
    this.subject.next({ id: worker.id, rev: ++this.revision });
  }
}
