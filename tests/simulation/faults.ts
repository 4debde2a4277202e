import type { NumberedFrame } from '@cdui/protocol';
import type { LoggedRun } from '../../apps/control-plane/events/event-log';
import type { RunWorld } from '../../apps/control-plane/runs/world';
import type { RemoteRun } from '../../apps/control-plane/workers/remote-run';
import type { Worker } from '../../apps/control-plane/workers/worker';
import type { WorkerConnection } from '../../apps/control-plane/workers/worker-connection';
import type { Fault, SimServer } from './sim-server';

interface Slots {
  hold(run: unknown, placement: unknown): void;
  release(run: { readonly id: string }): void;
  withdraw(run: { readonly id: string }): void;
  readonly scheduler: {
    remove(id: string): boolean;
    readonly held: Map<string, { readonly slots: readonly unknown[] }>;
    readonly used: { remove(slots: readonly unknown[]): void };
  };
}

interface Registry {
  numbered(worker: Worker, frame: NumberedFrame): void;
  closed(connection: WorkerConnection, reason: unknown): void;
  get(id: string): Worker | null;
  list(): readonly Worker[];
  readonly strays: { cancel(): void };
}

const slotsOf = (server: SimServer): Slots => (server.service as unknown as { slots: Slots }).slots;
const registryOf = (server: SimServer): Registry => server.registry as unknown as Registry;

function over<T extends object>(real: T, parts: Partial<T>): T {
  return Object.assign(Object.create(real) as T, parts);
}

/** Every way in which the program could be broken that the stories must find out. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'frames are acknowledged before they are stored': {
    world: (world) => ({ ...world, log: over(world.log, { open: (run) => eager(world, run) }) }),
  },
  'frames that came before are taken in again': {
    server: (server) => {
      const registry = registryOf(server);
      const numbered = registry.numbered.bind(registry);
      registry.numbered = (worker, frame) => {
        const run = worker.runs.get(frame.run_id) as unknown as { lastSeq: number } | undefined;
        if (run) run.lastSeq = Math.min(run.lastSeq, frame.seq - 1);
        numbered(worker, frame);
      };
    },
  },
  'slots are freed twice': {
    server: (server) => {
      const slots = slotsOf(server);
      const release = slots.release.bind(slots);
      slots.release = (run) => {
        const held = slots.scheduler.held.get(run.id);
        if (held) slots.scheduler.used.remove(held.slots);
        release(run);
      };
    },
  },
  'slots are freed before the end is stored': {
    world: (world) => ({
      ...world,
      store: over(world.store, {
        end: (...end) => {
          void world.store.end(...end).catch(() => undefined);
          return Promise.resolve(1);
        },
      }),
    }),
  },
  'a run returns to the queue under the number of its last attempt': {
    server: (server) => {
      const service = server.service as unknown as { begin(...args: unknown[]): { attempts: number } };
      const begin = service.begin.bind(service);
      service.begin = (...args) => {
        const live = begin(...args);
        Object.defineProperty(live, 'attempts', { get: () => 1, set: () => undefined });
        return live;
      };
    },
  },
  'the close of a stale socket unseats its successor': {
    server: (server) => {
      const registry = registryOf(server);
      const closed = registry.closed.bind(registry);
      registry.closed = (connection, reason) => {
        const worker = connection.name === null ? null : registry.get(connection.name);
        if (worker?.connection) worker.connection = connection;
        closed(connection, reason);
      };
    },
  },
  'a run is waited for beyond the grace': {
    workers: (world) => ({ ...world, limits: { ...world.limits, resumeGraceMs: 1_000_000_000 } }),
  },
  'frames of a run are taken from any worker': {
    server: (server) => {
      const registry = registryOf(server);
      const numbered = registry.numbered.bind(registry);
      registry.numbered = (worker, frame) => {
        const owner = registry.list().find(({ runs }) => runs.get(frame.run_id)?.attempt === frame.attempt);
        numbered(owner ?? worker, frame);
      };
    },
  },
  'the next front is lost after a cancel': {
    server: (server) => {
      const slots = slotsOf(server);
      slots.withdraw = ({ id }) => void slots.scheduler.remove(id);
    },
  },
  'an event is stored after the last one': {
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
  'what a run holds is forgotten when it is taken over': {
    server: (server) => {
      slotsOf(server).hold = () => undefined;
    },
  },
  'a run is assigned before its row says so': {
    world: (world) => ({
      ...world,
      store: over(world.store, {
        start: (...start) => {
          void world.store.start(...start).catch(() => undefined);
          return Promise.resolve(true);
        },
      }),
    }),
  },
  'a run that a worker still executes after its end is left alone': {
    server: (server) => {
      registryOf(server).strays.cancel = () => undefined;
    },
  },
  'a run that its worker does not have any more is waited for': {
    server: (server) => {
      const { executor } = server.registry;
      const run = executor.run.bind(executor);
      executor.run = (request) => {
        const result = run(request);
        for (const worker of server.registry.list()) for (const remote of worker.runs.values()) forgiving(remote);
        return result;
      };
    },
  },
};

/** Says of every frame that it is durable as soon as it came. */
function eager(world: RunWorld, run: LoggedRun): ReturnType<RunWorld['log']['open']> {
  return world.log.open(run).then((recorder) =>
    over(recorder, {
      cover: (seq) => {
        recorder.cover(seq);
        run.onRecorded?.(seq);
      },
    }),
  );
}

function forgiving(remote: RemoteRun): void {
  const back = remote.connectionBack.bind(remote);
  remote.connectionBack = (alive) => {
    if (alive) back(alive);
  };
}
