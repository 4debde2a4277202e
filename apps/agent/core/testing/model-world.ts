import { VirtualClock } from '../../../control-plane/runs/testing/virtual-clock';
import type { AgentFrame, AssignFrame, DeviceFacts, NumberedFrame, ServerFrame } from '@cdui/protocol';
import { checkAgentFrame, CodedError, readMessage } from '@cdui/protocol';
import type { LaunchedRun, RunLauncher, StopAuthor } from '../../runner/launcher';
import type { RunOutlet } from '../../runner/run-outlet';
import { Agent } from '../agent';
import { finishedMembers, outcomeOf } from '../outcome';
import type {
  AgentFacts,
  AgentWorld,
  Connection,
  ConnectionEvents,
  LeftRun,
  LineBatch,
  RunSpools,
  Spool,
} from '../world';

/** Time that can stand still for a process alone: it is frozen, and its machine is not. */
export class ModelClock extends VirtualClock {
  private asleep = 0;

  boottime(): number {
    return this.monotonic() + this.asleep;
  }

  sleep(ms: number): void {
    this.asleep += ms;
  }
}

const decoder = new TextDecoder();

/** A disk that keeps what was written when the agent dies; what was not is lost. */
export class ModelDisk {
  readonly spools = new Map<string, ModelSpool>();
  full = false;
  /** Whether what is written waits for `work`. */
  slow = false;
  private readonly held: (() => void)[] = [];

  /** Writes what waits. */
  work(): void {
    for (const write of this.held.splice(0)) write();
  }

  of(): RunSpools {
    return {
      root: '/runs',
      left: () =>
        Promise.resolve(
          [...this.spools.values()].filter((spool) => !spool.removed).map((spool) => spool.left(this.forLife(spool))),
        ),
      create: (runId, attempt) => {
        const spool = new ModelSpool(runId, attempt, this);
        this.spools.set(runId, spool);
        return Promise.resolve(this.forLife(spool));
      },
      hasRoom: () => Promise.resolve(!this.full),
    };
  }

  /** Handles of a dead agent write nothing. */
  private life = 0;
  died(): void {
    this.life += 1;
    this.held.length = 0;
  }

  private turn<T>(work: () => Promise<T>): Promise<T> {
    if (!this.slow) return work();
    return new Promise((resolve, reject) => this.held.push(() => void work().then(resolve, reject)));
  }

  private forLife(spool: ModelSpool): Spool {
    const { life } = this;
    const gone = new Promise<never>(() => undefined);
    const guarded =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        life === this.life ? call(...args) : gone;
    return {
      append: guarded((batches: readonly LineBatch[]) => this.turn(() => spool.append(batches))),
      read: guarded((after: number, bytes: number) => this.turn(() => spool.read(after, bytes))),
      acknowledged: (seq) => {
        if (life === this.life) spool.acknowledged(seq);
      },
      remove: guarded(() => spool.remove()),
    };
  }
}

/** Lines in memory, by number. */
export class ModelSpool {
  lines: { readonly seq: number; readonly text: string }[] = [];
  acked = 0;
  removed = false;

  constructor(
    readonly runId: string,
    readonly attempt: number,
    private readonly disk: ModelDisk,
  ) {}

  append(batches: readonly LineBatch[]): Promise<void> {
    if (this.disk.full) {
      return Promise.reject(new CodedError('disk_full', 'no room', { path: '/runs' }));
    }
    for (const { bytes, lastSeq } of batches) {
      const texts = decoder.decode(bytes.subarray(1)).trimEnd().split('\n');
      texts.forEach((text, index) => this.lines.push({ seq: lastSeq - texts.length + 1 + index, text }));
    }
    return Promise.resolve();
  }

  read(after: number, maxBytes: number): Promise<LineBatch> {
    let text = ' ';
    let lastSeq = after;
    for (const line of this.lines) {
      if (line.seq <= after || (text.length > 1 && text.length + line.text.length > maxBytes)) continue;
      text += `${line.text}\n`;
      lastSeq = line.seq;
    }
    return Promise.resolve({ bytes: new TextEncoder().encode(text), lastSeq });
  }

  acknowledged(seq: number): void {
    this.acked = seq;
    this.lines = this.lines.filter((line) => line.seq > seq);
  }

  remove(): Promise<void> {
    this.removed = true;
    return Promise.resolve();
  }

  left(spool: Spool): LeftRun {
    const last = this.lines.at(-1);
    return {
      runId: this.runId,
      attempt: this.attempt,
      acknowledged: this.acked,
      lastSeq: last?.seq ?? this.acked,
      finished: last?.text.startsWith('{"type":"run_finished"') ?? false,
      spool,
    };
  }
}

/** A run's process that does what it is told. */
export class ModelProcess {
  frames = 0;
  stopped: { readonly graceS: number; readonly by: StopAuthor } | null = null;
  gone = false;
  private end!: () => void;
  readonly over = new Promise<void>((resolve) => (this.end = resolve));

  constructor(
    readonly assignment: AssignFrame,
    private readonly outlet: RunOutlet,
  ) {}

  /** @returns whether it may say more */
  say(): boolean {
    if (this.gone) return false;
    this.frames += 1;
    const warning = { kind: 'model', detail: `${this.assignment.attempt}.${this.frames}` };
    return this.outlet.frame('warning', Buffer.from(`"at_ms":${this.frames},"warning":${JSON.stringify(warning)}}`));
  }

  finish(status: 'succeeded' | 'cancelled' = 'succeeded'): void {
    if (this.gone) return;
    this.gone = true;
    this.outlet.frame('run_finished', Buffer.from(finishedMembers(outcomeOf(status, null))));
    this.end();
  }
}

export class ModelLauncher implements RunLauncher {
  readonly processes: ModelProcess[] = [];
  /** Whether a process that is killed is gone at once. */
  dies = true;

  constructor(private readonly launched: (assignment: AssignFrame) => void = () => undefined) {}

  launch(assignment: AssignFrame, outlet: RunOutlet): LaunchedRun {
    this.launched(assignment);
    const process = new ModelProcess(assignment, outlet);
    this.processes.push(process);
    return {
      over: process.over,
      stop: (graceS, by) => {
        process.stopped = { graceS, by };
        if (graceS === 0 && this.dies) process.finish('cancelled');
      },
    };
  }

  get living(): readonly ModelProcess[] {
    return this.processes.filter(({ gone }) => !gone);
  }
}

/** A line between an agent and whoever serves it: what waits in either direction arrives in order, or never. */
export class ModelLine implements Connection {
  readonly toServer: AgentFrame[] = [];
  readonly toAgent: ServerFrame[] = [];
  pings: number[] = [];
  closed: { readonly code: number; readonly reason: string } | null = null;
  /** Whether it was cut. */
  over = false;
  /** Whether the agent may send on. */
  flows = true;

  constructor(readonly events: ConnectionEvents) {}

  send(message: string | Uint8Array): boolean {
    const text = typeof message === 'string' ? message : decoder.decode(message);
    for (const value of readMessage(text)) {
      const frame = checkAgentFrame(value);
      if (frame === null) throw new Error(`the agent sent ${text}`);
      this.toServer.push(frame);
    }
    return this.flows;
  }

  ping(ping: number): void {
    this.pings.push(ping);
  }

  close(code: number, reason: string): void {
    this.closed ??= { code, reason };
  }

  give(frame: ServerFrame): void {
    if (this.over) return;
    this.events.heard();
    this.events.message(JSON.stringify(frame));
  }

  /** The next frame that is on its way to the agent arrives. @returns whether there was one */
  deliver(): boolean {
    const frame = this.toAgent.shift();
    if (frame) this.give(frame);
    return frame !== undefined;
  }

  /** Answers every ping. */
  pong(): void {
    for (const ping of this.pings.splice(0)) {
      this.events.heard();
      this.events.ponged(ping);
    }
  }

  numbered(): readonly NumberedFrame[] {
    return this.toServer.filter((frame): frame is NumberedFrame => 'seq' in frame);
  }
}

export const CPU: DeviceFacts = {
  device: 'cpu',
  name: 'Processor',
  uuid: null,
  total_bytes: 1,
  free_bytes: 1,
  utilization: null,
};

export const FACTS: AgentFacts = {
  name: 'model',
  version: '3.1.0',
  capabilities: ['ack', 'console', 'run_facts'],
  machine_id: null,
  platform: 'linux-x64',
  devices: [CPU],
  mounts: [],
  fingerprint: null,
  catalog_hash: null,
  node_types: [],
  node_type_hashes: {},
};

/** An agent in a world that a test turns. */
export class ModelWorld {
  clock = new ModelClock();
  readonly disk = new ModelDisk();
  launcher!: ModelLauncher;
  agent!: Agent;
  /** Where the agent dials to; the newest is the last. */
  readonly lines: ModelLine[] = [];
  readonly asked: ConnectionEvents[] = [];
  readonly said: string[] = [];
  followed: (readonly [string, number, number])[] = [];
  devices: () => Promise<readonly DeviceFacts[]> = () => Promise.resolve([CPU]);
  stopAfterSilenceMs: number | null = null;

  constructor(
    private readonly launched: (assignment: AssignFrame) => void = () => undefined,
    private readonly random: () => number = () => 0.5,
  ) {}

  /** Starts an agent; what an earlier one left on the disk is there. */
  async start(): Promise<void> {
    this.launcher = new ModelLauncher(this.launched);
    this.asked.length = 0;
    // What an earlier agent had set rings for nobody.
    this.clock = new ModelClock(this.clock.now());
    const log = (message: string): void => void this.said.push(message);
    const world: AgentWorld = {
      clock: this.clock,
      random: this.random,
      dialer: { dial: (events) => void this.asked.push(events) },
      spools: this.disk.of(),
      launcher: this.launcher,
      consoles: {
        follow: (...args) => void this.followed.push(args),
        connect: () => undefined,
        look: () => undefined,
        over: () => undefined,
        disconnect: () => undefined,
      },
      devices: () => this.devices(),
      log: { info: log, warn: log },
      ...(this.stopAfterSilenceMs !== null && { stopAfterSilenceMs: this.stopAfterSilenceMs }),
    };
    this.agent = new Agent(world, FACTS);
    await this.agent.start();
    await settled();
  }

  /** Lets the agent's dial succeed; it has said hello when this returns. */
  open(): ModelLine {
    const line = new ModelLine(this.asked.pop()!);
    this.asked.length = 0;
    this.lines.push(line);
    line.events.opened(line);
    return line;
  }

  /** The same, with a welcome. */
  async connect(heartbeatS = 10): Promise<ModelLine> {
    const line = this.open();
    line.give(welcome(heartbeatS));
    await settled();
    return line;
  }

  async cut(line: ModelLine, code: number | null = 1006): Promise<void> {
    line.over = true;
    line.events.ended({ code, reason: 'the line was cut' });
    await settled();
  }
}

export function welcome(heartbeatS = 10): ServerFrame {
  return {
    type: 'welcome',
    worker_id: 'model',
    heartbeat_s: heartbeatS,
    grace_s: 30,
    capabilities: ['ack', 'console', 'run_facts'],
  };
}

export function assign(runId: string, attempt = 1, device = 'cpu'): AssignFrame {
  const folder = '/data';
  return {
    type: 'assign',
    run_id: runId,
    attempt,
    graph: { nodes: [], edges: [] },
    options: {},
    device,
    devices: [device],
    storage: {
      backend: 'local',
      folders: {
        ...{ data: folder, models: folder, images: folder, files: folder, graphs: folder, datasets: folder },
        ...{ output: folder, customNodes: null },
      },
    },
    payload_cap_bytes: 131_072,
    max_parallel_nodes: 4,
  };
}

/** Everything that promises had in mind has happened. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
