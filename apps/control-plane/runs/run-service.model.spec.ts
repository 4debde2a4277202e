import { type Placed, slotKey } from '@cdui/scheduling';
import fc from 'fast-check';
import { times } from '../../../testing/long';
import { settle, Simulation } from './testing/simulation';
import { DEVICES, Witness } from './testing/witness';
import type { RunWorld } from './world';

/** A way in which the program could be broken. */
interface Fault {
  /** Stands between the runs and their world. */
  readonly world?: (world: RunWorld) => RunWorld;
  /** Reaches into the service itself. */
  readonly service?: (sim: Simulation) => void;
}

type Command =
  | { readonly do: 'submit'; readonly device: string; readonly seed: number | null; readonly lane: string }
  | { readonly do: 'cancel' | 'begin' | 'report' | 'crash'; readonly pick: number }
  | { readonly do: 'end'; readonly pick: number; readonly status: 'succeeded' | 'failed' | 'interrupted' }
  | { readonly do: 'hold' | 'release' | 'kill' }
  | { readonly do: 'commit'; readonly count: number }
  | { readonly do: 'fail'; readonly on: boolean }
  | { readonly do: 'tick'; readonly ms: number };

const pick = fc.nat(30);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      device: fc.constantFrom('cpu', 'cpu', 'cuda:0'),
      seed: fc.constantFrom(null, null, null, 7),
      lane: fc.constantFrom('queued', 'queued', 'queued', 'interactive'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('begin' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('report' as const), pick }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      pick,
      status: fc.constantFrom('succeeded', 'failed', 'interrupted'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('hold' as const, 'release' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('commit' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), on: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tick' as const), ms: fc.constantFrom(1, 250, 5_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const) }) },
);

/** One life of a server after another, as the commands say. */
class Story {
  readonly witness = new Witness(() => this.sim);
  private readonly ids: string[] = [];
  private sim: Simulation;

  constructor(private readonly fault: Fault) {
    this.sim = new Simulation({
      devices: DEVICES,
      tamper: (world) => this.witness.watch(fault.world ? fault.world(world) : world),
    });
    fault.service?.(this.sim);
  }

  async tell(commands: readonly Command[]): Promise<void> {
    for (const next of commands) {
      await this.act(next);
      await settle(this.sim.clock);
      await this.witness.checkRows();
      if (this.isQuiet) this.witness.checkQuiet();
      if (this.witness.problems.length > 0) return;
    }
    await this.end();
  }

  /** Whether nothing is under way but what executes. */
  private get isQuiet(): boolean {
    const { database, clock } = this.sim;
    return database.waiting === 0 && database.failing === null && clock.next === null;
  }

  private async act(next: Command): Promise<void> {
    const { sim, ids } = this;
    const { database, executor, service } = sim;
    const running = [...executor.running.values()];
    const chosen = 'pick' in next ? running[next.pick % Math.max(1, running.length)] : undefined;
    switch (next.do) {
      case 'submit': {
        const { device, seed, lane } = next;
        const accept = ({ run_id: id }: { readonly run_id: string }): void => void this.witness.acknowledged.add(id);
        // What is refused is refused with a reason; the specs say which.
        void sim.submit({ device, seed, lane }).then(accept, () => undefined);
        ids.push(sim.newestId);
        return;
      }
      case 'cancel': {
        const id = ids[next.pick % Math.max(1, ids.length)];
        if (id === undefined) return;
        this.witness.cancelled.add(id);
        void service.cancel(id).catch(() => undefined);
        return;
      }
      case 'begin':
        chosen?.begin();
        return;
      case 'report':
        chosen?.report('a');
        return;
      case 'end':
        chosen?.end(next.status);
        return;
      case 'crash':
        chosen?.crash();
        return;
      case 'hold':
        database.hold();
        return;
      case 'release':
        database.release();
        return;
      case 'commit':
        database.commit(next.count);
        return;
      case 'fail':
        database.failing = next.on ? 'the disk is full' : null;
        return;
      case 'tick':
        sim.clock.advance(next.ms);
        return;
      case 'kill':
        this.sim = sim.crash();
        this.fault.service?.(this.sim);
        await this.sim.service.recover();
        return;
    }
  }

  /** Storage works again, everything that can start starts, and everything that runs ends. */
  private async end(): Promise<void> {
    const { sim, witness } = this;
    sim.database.failing = null;
    sim.database.release();
    for (let round = 0; round < 200; round++) {
      for (let pause = 0; pause < 3; pause++) {
        sim.clock.advance(10_000);
        await settle();
      }
      witness.checkQuiet();
      await witness.checkRows();
      if (witness.problems.length > 0) return;
      const [execution] = sim.executor.running.values();
      if (!execution) break;
      execution.end();
    }
    if (sim.service.activeCount > 0) witness.problems.push(`${sim.service.activeCount} runs never end`);
  }
}

async function check(fault: Fault, runs: number, seed?: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 60, size: 'max' }), async (commands) => {
      const story = new Story(fault);
      await story.tell(commands);
      expect(story.witness.problems).toEqual([]);
    }),
    { numRuns: runs, ...(seed !== undefined && { seed }), endOnFailure: true },
  );
}

interface Innards {
  readonly slots: {
    withdraw(run: { readonly id: string }): void;
    release(run: { readonly id: string }): void;
    readonly scheduler: {
      remove(id: string): boolean;
      gateIsOpen(): boolean;
      readonly held: Map<string, Placed>;
      readonly cards: { readonly counts: Map<string, number> };
    };
  };
}

function innards(sim: Simulation): Innards {
  return sim.service as unknown as Innards;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'slots are freed before the end is committed': {
    world: (world) => ({
      ...world,
      store: over(world.store, {
        end: (id, from, end, at) => {
          void world.store.end(id, from, end, at).catch(() => undefined);
          return Promise.resolve(1);
        },
      }),
    }),
  },
  'a run is executed without its row saying so': {
    world: (world) => ({ ...world, store: over(world.store, { start: () => Promise.resolve(true) }) }),
  },
  'a run is accepted before it is committed': {
    world: (world) => ({
      ...world,
      store: over(world.store, {
        insert: (run) => {
          void world.store.insert(run).catch(() => undefined);
          return Promise.resolve();
        },
      }),
    }),
  },
  'slots are freed twice': {
    service: (sim) => {
      const { slots } = innards(sim);
      const release = slots.release.bind(slots);
      slots.release = (run) => {
        const held = slots.scheduler.held.get(run.id);
        const { counts } = slots.scheduler.cards;
        for (const slot of held?.slots ?? []) counts.set(slotKey(slot), (counts.get(slotKey(slot)) ?? 0) - 1);
        release(run);
      };
    },
  },
  'slots of a run that ends are not freed': {
    service: (sim) => {
      innards(sim).slots.release = () => undefined;
    },
  },
  'the next front is lost after a cancel': {
    service: (sim) => {
      const { slots } = innards(sim);
      slots.withdraw = ({ id }) => void slots.scheduler.remove(id);
    },
  },
  'a report is stored after the last event': {
    world: (world) => ({
      ...world,
      log: over(world.log, {
        publishEnd: (...published) => {
          const [runId, cursor] = published;
          const late = { cursor: cursor + 1, type: 'node_status', payload: '{}', ts: 0 };
          void world.events.append(runId, { events: [late] }).catch(() => undefined);
          world.log.publishEnd(...published);
        },
      }),
    }),
  },
  'the seed gate is not kept': {
    service: (sim) => {
      innards(sim).slots.scheduler.gateIsOpen = () => true;
    },
  },
  'the seed gate stays shut': {
    service: (sim) => {
      const { slots } = innards(sim);
      let shut = false;
      const { scheduler } = slots;
      const gateIsOpen = scheduler.gateIsOpen.bind(scheduler);
      scheduler.gateIsOpen = (...run) => {
        shut ||= [...scheduler.held.values()].some(({ run: { alone } }) => alone);
        return !shut && gateIsOpen(...run);
      };
    },
  },
};

function over<T extends object>(real: T, parts: Partial<T>): T {
  return Object.assign(Object.create(real) as T, parts);
}

describe('RunService, whatever happens in whatever order', () => {
  it('keeps its promises', async () => {
    await check({}, times(150, 5_000));
  });

  it.each(Object.entries(FAULTS))('is caught when %s', async (_, fault) => {
    await expect(check(fault, 400, 1)).rejects.toThrow(/Property failed/);
  });
});
