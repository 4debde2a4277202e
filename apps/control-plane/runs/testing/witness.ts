import type { RunRecord } from '@cdui/execution';
import { isTerminal, TERMINAL_EVENTS } from '@cdui/protocol';
import { LOCAL, SlotLimits } from '@cdui/scheduling';
import { SlowScheduler } from '@cdui/scheduling/testing/slow-scheduler';
import type { RunWorld } from '../world';
import type { Simulation } from './simulation';

const LIMITS: Readonly<Record<string, number>> = { cpu: 2, 'cuda:0': 1 };
export const DEVICES = Object.keys(LIMITS);

/**
 * Stands beside a run service and looks at what passes between it and its world: whether rows say what they must at that moment. What it finds
 * wrong it keeps, because whoever is called by a service must not throw at it.
 */
export class Witness {
  readonly problems: string[] = [];
  /** Runs that somebody was promised. */
  readonly acknowledged = new Set<string>();
  readonly cancelled = new Set<string>();
  /** Starts that are not committed yet. */
  private readonly starting = new Set<string>();
  private readonly published = new Set<string>();

  constructor(private sim: () => Simulation) {}

  /** The world with the witness in between. */
  watch(world: RunWorld): RunWorld {
    const { store, log, executor } = world;
    return {
      ...world,
      store: Object.assign(Object.create(store) as typeof store, {
        start: async (id: string, start: Parameters<typeof store.start>[1]) => {
          this.beforeStart(id);
          this.starting.add(id);
          // What comes of it is still being worked out when the promise settles.
          return store.start(id, start).finally(() => void setImmediate(() => this.starting.delete(id)));
        },
      }),
      executor: {
        run: (request) => {
          this.beforeExecution(request.runId);
          return executor.run(request);
        },
      },
      log: Object.assign(Object.create(log) as typeof log, {
        publishEnd: (...published: Parameters<typeof log.publishEnd>) => {
          const [id] = published;
          if (!isTerminal(this.row(id)?.status ?? 'queued')) this.blame(`${id}: its end was told before it was stored`);
          if (this.published.has(id)) this.blame(`${id}: its end was told twice`);
          this.published.add(id);
          log.publishEnd(...published);
        },
      }),
    };
  }

  /** Looks at what is stored: at any moment it must make sense. */
  async checkRows(): Promise<void> {
    const sim = this.sim();
    for (const id of this.acknowledged) if (!this.row(id)) this.blame(`${id}: it was accepted and is not there`);
    for (const { id, status } of this.rows()) {
      const types = await sim.events(id);
      const ends = types.filter((type) => TERMINAL_EVENTS.some((terminal) => terminal === type));
      const expected = isTerminal(status) ? 1 : 0;
      if (ends.length !== expected) this.blame(`${id}: it is ${status} and has ${ends.length} last events`);
      if (expected > 0 && types.at(-1) !== ends[0]) this.blame(`${id}: ${types.at(-1)} comes after ${ends[0]}`);
    }
  }

  /** When nothing is under way any more, whatever could start has started. */
  checkQuiet(): void {
    const slow = new SlowScheduler(new SlotLimits());
    slow.workers.set(LOCAL, { id: LOCAL, online: true, devices: DEVICES });
    for (const row of this.rows().filter(({ lane }) => lane === 'queued')) {
      const { id, queueKey, queueSeq } = row;
      const run = { id, worker: LOCAL, devices: [queueKey], queueKey, queueSeq, alone: seeded(row) };
      const slots = [{ worker: LOCAL, device: queueKey }];
      if (row.status === 'running') slow.held.push({ run, worker: LOCAL, devices: run.devices, slots });
      if (row.status === 'queued') slow.waiting.push(run);
    }
    const next = slow.next();
    if (next) this.blame(`${next.run.id}: it could start and does not`);
  }

  private beforeStart(id: string): void {
    const row = this.row(id);
    if (!row || row.lane !== 'queued') return;
    const held = this.rows().filter(
      ({ id: other, lane, status }) =>
        other !== id &&
        lane === 'queued' &&
        (status === 'running' || (status === 'queued' && this.starting.has(other))),
    );
    if (held.filter(({ queueKey }) => queueKey === row.queueKey).length >= LIMITS[row.queueKey]!) {
      this.blame(`${id}: it starts on ${row.queueKey}, where no room is`);
    }
    if (held.length > 0 && (seeded(row) || held.some(seeded))) this.blame(`${id}: it starts past the seed gate`);
    const passed = this.rows().find(
      (other) =>
        other.status === 'queued' &&
        other.lane === 'queued' &&
        other.queueKey === row.queueKey &&
        other.queueSeq < row.queueSeq &&
        this.acknowledged.has(other.id) &&
        !this.cancelled.has(other.id) &&
        !this.starting.has(other.id),
    );
    if (passed) this.blame(`${id}: it starts before ${passed.id}, which came earlier`);
  }

  private beforeExecution(id: string): void {
    const status = this.row(id)?.status;
    if (status !== 'running') this.blame(`${id}: it is executed while its row says ${status}`);
    const interactive = [...this.sim().executor.running.keys()].filter(
      (other) => this.row(other)?.lane === 'interactive',
    );
    if (this.row(id)?.lane === 'interactive' && interactive.length >= 2) this.blame(`${id}: one canvas run too many`);
  }

  private rows(): readonly RunRecord[] {
    return this.sim().database.records();
  }

  private row(id: string): RunRecord | undefined {
    return this.rows().find((row) => row.id === id);
  }

  private blame(problem: string): void {
    this.problems.push(problem);
  }
}

function seeded({ options }: RunRecord): boolean {
  return options['seed'] !== null;
}
