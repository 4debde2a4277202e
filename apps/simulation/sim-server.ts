import type { Placed, Slot, WaitingRun, WorkerState } from '@cdui/scheduling';
import type { ServerFrame } from '@cdui/protocol';
import { canonicalJson } from '@cdui/protocol';
import type { MemoryDatabase } from '@cdui/execution/testing/memory-stores';
import { FakeExecutor } from '../control-plane/runs/testing/fake-executor';
import { FakeDesk } from '../control-plane/runs/testing/simulation';
import { WatchedLog } from '../control-plane/runs/testing/watched-log';
import { RunService } from '../control-plane/runs/run-service';
import type { RunWorld } from '../control-plane/runs/world';
import { WorkerRegistry } from '../control-plane/workers/worker-registry';
import type { StoredWorker, WorkerWorld } from '../control-plane/workers/world';
import type { SimLine } from './network';
import type { Party, SimTime } from './time';

export const RESUME_GRACE_MS = 300_000;
export const LIMITS = { cpu: 2, gpu: 1, overrides: '' } as const;

/** A way in which the program could be broken; it is put into a server when that starts. */
export interface Fault {
  readonly world?: (world: RunWorld) => RunWorld;
  readonly workers?: (world: WorkerWorld) => WorkerWorld;
  readonly server?: (server: SimServer) => void;
}

export interface ServerHooks {
  readonly runId: () => string;
  /** What is remembered of workers; it outlives the server. */
  readonly known: Map<string, StoredWorker>;
  /** Looks at a run that gets what it waited for. */
  readonly placed: (placed: Placed, expected: Placed | null) => void;
  /** Says who should get it. */
  readonly next: (server: SimServer) => Placed | null;
  /** Looks at what the server is about to say to an agent. */
  readonly sends: (agent: string, frame: ServerFrame) => void;
  /** A defect. */
  readonly report: (what: string, error: unknown) => void;
}

/** What of the scheduler is nobody's business but a witness's and a saboteur's. */
export interface Innards {
  /** Set while what could not be started waits to be tried again. */
  readonly resume: (() => void) | null;
  hold(run: unknown, placement: unknown): void;
  release(run: { readonly id: string }): void;
  withdraw(run: { readonly id: string }): void;
  readonly scheduler: {
    next(): Placed | null;
    remove(id: string): boolean;
    reserved(card: string, before: number): number;
    readonly queues: ReadonlyMap<string, { readonly front: WaitingRun | undefined }>;
    readonly waiting: ReadonlyMap<string, WaitingRun>;
    readonly held: ReadonlyMap<string, Placed>;
    readonly fences: { readonly all: ReadonlySet<Placed>; isFenced(runId: string): boolean };
    readonly cards: {
      remove(placed: Placed): readonly string[];
      cardsOf(placed: Placed): readonly string[];
      cardOf(slot: Slot): string;
      change(worker: WorkerState): readonly string[];
      worker(id: string): WorkerState | undefined;
      readonly counts: Map<string, number>;
    };
    readonly machines: { isOpen(worker: WorkerState): boolean };
  };
}

/** One life of a control plane: the real run service, scheduler, lifecycle and registry, on a database that outlives it. */
export class SimServer {
  readonly party: Party;
  readonly registry: WorkerRegistry;
  readonly service: RunService;
  readonly executor = new FakeExecutor();
  private readonly lines = new Map<SimLine, string>();
  isUp = true;

  constructor(
    readonly database: MemoryDatabase,
    time: SimTime,
    private readonly hooks: ServerHooks,
    fault: Fault,
  ) {
    this.party = time.party();
    const { clock } = this.party;
    const workers: WorkerWorld = {
      clock,
      store: database.runs,
      workers: {
        load: () => Promise.resolve([...hooks.known.values()]),
        keep: (worker) => Promise.resolve(void hooks.known.set(worker.id, worker)),
      },
      limits: {
        ...{ heartbeatMs: 10_000, assignTimeoutMs: 30_000, resumeGraceMs: RESUME_GRACE_MS, cancelGraceS: 30 },
        ...{ payloadCapBytes: 65_536, maxParallelNodes: 4 },
      },
      machineId: null,
      version: '3.1.0',
      nodeTypes: () => ({}),
      fingerprint: (document) => ({ digest: 'digest', document: canonicalJson(document) }),
      printed: () => Promise.resolve(0),
      log: () => undefined,
      report: hooks.report,
    };
    this.registry = new WorkerRegistry(fault.workers?.(workers) ?? workers);
    const world: RunWorld = {
      store: database.runs,
      events: database.events,
      log: new WatchedLog(database, clock),
      executor: this.executor,
      clock,
      ids: { runId: hooks.runId },
      graphs: new FakeDesk(),
      machine: {
        devices: ['cpu'],
        fingerprint: () => ({ digest: 'digest', document: '{}' }),
        cards: () => Promise.resolve({}),
      },
      workers: this.registry,
      files: {
        folders: () => ({
          ...{ data: '/d', models: '/m', images: '/i', files: '/f', graphs: '/g', datasets: '/s', output: '/o' },
          customNodes: null,
        }),
        remove: () => Promise.resolve(),
      },
      limits: { slots: LIMITS, interactive: 2, keepLast: -1, resumeGraceMs: RESUME_GRACE_MS },
      report: hooks.report,
    };
    this.service = new RunService(fault.world?.(world) ?? world);
    fault.server?.(this);
    const { scheduler } = this.slots;
    const next = scheduler.next.bind(scheduler);
    scheduler.next = () => {
      const expected = hooks.next(this);
      const placed = next();
      if (placed) hooks.placed(placed, expected);
      return placed;
    };
  }

  get slots(): Innards {
    return (this.service as unknown as { slots: Innards }).slots;
  }

  async recover(): Promise<void> {
    await this.registry.load();
    await this.service.recover();
  }

  /** An agent dialled, and its credential was accepted. */
  accept(line: SimLine, agent: string): void {
    this.lines.set(line, agent);
    line.onServerSend = (text) => this.hooks.sends(agent, JSON.parse(text) as ServerFrame);
    this.registry.accept(line.transport, { kind: 'session', name: null });
  }

  /** The program dies. @param silent whether agents hear nothing of it */
  crash(silent: boolean): MemoryDatabase {
    this.isUp = false;
    this.party.kill();
    for (const line of this.lines.keys()) line.serverDied(silent);
    return this.database.crash();
  }
}
