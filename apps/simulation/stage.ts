import { MemoryDatabase } from '@cdui/execution/testing/memory-stores';
import type { RunRecord } from '@cdui/execution';
import type { ServerFrame } from '@cdui/protocol';
import { GRAPH } from '../control-plane/runs/testing/simulation';
import { SimLine } from './network';
import { SimAgent } from './sim-agent';
import { SimServer } from './sim-server';
import type { StoredWorker } from '../control-plane/workers/world';
import { SimTime, settled } from './time';

/** One agent and its server, for scenes that are told step by step: what is sent arrives at once. */
export class Stage {
  readonly database = new MemoryDatabase();
  readonly time = new SimTime();
  readonly agent: SimAgent;
  server!: SimServer;
  readonly sent: ServerFrame[] = [];
  /** Whether the agent gets through to the server. */
  reachable = true;
  private lines: SimLine[] = [];
  private lastId = 0;
  private readonly known = new Map<string, StoredWorker>();

  private constructor(devices: readonly string[]) {
    this.agent = new SimAgent('one', devices, this.time, {
      random: () => 0.5,
      dial: (_, events) => {
        if (!this.reachable || !this.server.isUp) return events.ended({ code: null, reason: 'refused' });
        const line = new SimLine(events);
        this.lines.push(line);
        this.server.accept(line, 'one');
        line.open();
      },
      launched: () => undefined,
    });
  }

  static async open(devices: readonly string[] = ['cpu']): Promise<Stage> {
    const stage = new Stage(devices);
    await stage.startServer(stage.database);
    await stage.agent.start();
    await stage.pass(1_000);
    return stage;
  }

  async startServer(database: MemoryDatabase): Promise<void> {
    const hooks = {
      known: this.known,
      runId: () => (++this.lastId).toString(16).padStart(32, '0'),
      placed: () => undefined,
      next: () => null,
      sends: (_: string, frame: ServerFrame) => void this.sent.push(frame),
      report: () => undefined,
    };
    this.server = new SimServer(database, this.time, hooks, {});
    await this.server.recover();
    await this.settle();
  }

  async submit(options: object = {}): Promise<string> {
    const run = await this.server.service.submit({ graph: GRAPH, options: { target: { worker: 'one' }, ...options } });
    await this.settle();
    return run.run_id;
  }

  row(id: string): RunRecord {
    return this.server.database.records().find((row) => row.id === id)!;
  }

  async events(id: string): Promise<readonly string[]> {
    const { events } = await this.server.database.events.read(id, 0, 1_000, Infinity);
    return events.map(({ type }) => type);
  }

  /** The connection breaks, and both ends hear of it. */
  async cut(): Promise<void> {
    for (const line of this.lines) line.break(0, 0, { server: false, agent: false });
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 50; round++) {
      await settled();
      let some = false;
      for (const line of this.lines) {
        for (let n = line.pendingToServer; n > 0; n--, some = true) line.deliverToServer();
        for (let n = line.pendingToAgent; n > 0; n--, some = true) line.deliverToAgent();
      }
      this.lines = this.lines.filter(({ isOver }) => !isOver);
      if (!some) return;
    }
  }

  async pass(ms: number): Promise<void> {
    const until = this.time.now + ms;
    while (this.time.step(until)) await this.settle();
    await this.settle();
  }
}
