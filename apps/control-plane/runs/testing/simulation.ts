import type { RunStore } from '@cdui/execution';
import { MemoryDatabase } from '@cdui/execution/testing/memory-stores';
import type { GraphFile, RunSubmitted } from '@cdui/protocol';
import { checkSubmission, CodedError } from '@cdui/protocol';
import { RunService } from '../run-service';
import type { GraphDesk, PreparedGraph, ReadSubmission, RunLimits, RunWorld, Workers } from '../world';
import { FakeExecutor } from './fake-executor';
import { VirtualClock } from './virtual-clock';
import { WatchedLog } from './watched-log';

export const GRAPH: GraphFile = { name: 'graph', nodes: [{ id: 'a', type: 'Start' }], edges: [] };
const LIMITS: RunLimits = {
  slots: { gpu: 1, cpu: 2, overrides: '' },
  interactive: 2,
  keepLast: -1,
  resumeGraceMs: 300_000,
};

/** Graphs with a node of type `Bad` cannot run; a param `key` is a secret. */
export class FakeDesk implements GraphDesk {
  async prepare(graph: GraphFile): Promise<PreparedGraph> {
    if (graph.nodes.some(({ type }) => type === 'Bad')) {
      throw new CodedError('invalid_graph', 'The graph cannot run', { issues: [] });
    }
    const text = JSON.stringify(graph);
    const scrubbed = text.replace(/"key":"[^"]+"/g, '"key":""');
    return { text: scrubbed, hadSecrets: scrubbed !== text, provenance: null, nodeTypes: null };
  }

  async read(body: Uint8Array): Promise<ReadSubmission> {
    const { graph, name, options } = checkSubmission(JSON.parse(Buffer.from(body).toString('utf8')));
    const prepared = await this.prepare(graph);
    const whole = Buffer.from(JSON.stringify(graph));
    return { ...prepared, text: Buffer.from(prepared.text), name, options, settings: graph.settings ?? {}, whole };
  }
}

/** A server that no worker ever connected to. */
const NO_WORKERS: Workers = {
  executor: { run: () => Promise.reject(new Error('There are no workers')) },
  get: () => null,
  list: () => [],
  watch: () => undefined,
};

export interface Choices {
  readonly limits?: Partial<RunLimits>;
  readonly devices?: readonly string[];
  readonly database?: MemoryDatabase;
  readonly clock?: VirtualClock;
  /** Stands between the runs and their stores, to do what a broken program would. */
  readonly tamper?: (world: RunWorld) => RunWorld;
  readonly firstId?: number;
}

/** A run service and all of its world, in memory. */
export class Simulation {
  readonly database: MemoryDatabase;
  readonly clock: VirtualClock;
  readonly executor = new FakeExecutor();
  readonly log: WatchedLog;
  readonly service: RunService;
  readonly reports: string[] = [];
  readonly removed: string[] = [];
  private lastId: number;

  constructor(private readonly choices: Choices = {}) {
    this.database = choices.database ?? new MemoryDatabase();
    this.clock = choices.clock ?? new VirtualClock();
    this.lastId = choices.firstId ?? 0;
    this.log = new WatchedLog(this.database, this.clock);
    const { devices = ['cpu'], limits, tamper = (world: RunWorld) => world } = choices;
    this.service = new RunService(
      tamper({
        store: this.database.runs,
        events: this.database.events,
        log: this.log,
        executor: this.executor,
        clock: this.clock,
        ids: { runId: () => (++this.lastId).toString(16).padStart(32, '0') },
        graphs: new FakeDesk(),
        machine: {
          devices,
          fingerprint: () => ({ digest: 'digest', document: '{}' }),
          cards: () => Promise.resolve({}),
        },
        workers: NO_WORKERS,
        files: {
          folders: () => ({
            ...{ data: '/d', models: '/m', images: '/i', files: '/f', graphs: '/g', datasets: '/s', output: '/o' },
            customNodes: null,
          }),
          remove: async (id) => void this.removed.push(id),
        },
        limits: { ...LIMITS, ...limits },
        report: (what) => void this.reports.push(what),
      }),
    );
  }

  /** The id that was given last, or will be given next to what is being accepted. */
  get newestId(): string {
    return (this.lastId + 1).toString(16).padStart(32, '0');
  }

  get store(): RunStore {
    return this.database.runs;
  }

  submit(options: Readonly<Record<string, unknown>> = {}, graph: GraphFile = GRAPH): Promise<RunSubmitted> {
    return this.service.submit({ graph, options });
  }

  /** What a program finds that starts after this one was killed. */
  crash(): Simulation {
    return new Simulation({
      ...this.choices,
      database: this.database.crash(),
      clock: this.clock.restarted(),
      firstId: this.lastId,
    });
  }

  async status(id: string): Promise<string | undefined> {
    return (await this.store.get(id))?.status;
  }

  /** Types of the run's events, in order; cursors must be 1, 2, 3, ... */
  async events(id: string): Promise<readonly string[]> {
    const { events } = await this.database.events.read(id, 0, 10_000, Infinity);
    events.forEach(({ cursor }, index) => {
      if (cursor !== index + 1) throw new Error(`Run ${id}: event ${index + 1} has cursor ${cursor}`);
    });
    return events.map(({ type }) => type);
  }
}

/** Longer than reports are gathered before they are stored. In milliseconds. */
const GATHERED_MS = 5;

/** Lets everything happen that needs no one, and next to no time. */
export async function settle(clock?: VirtualClock): Promise<void> {
  await turns();
  if (!clock) return;
  clock.advance(GATHERED_MS);
  await turns();
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
