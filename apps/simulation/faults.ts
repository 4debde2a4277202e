import type { Placement } from '@cdui/execution';
import type { HelloFrame, NumberedFrame, Reason, RejectFrame } from '@cdui/protocol';
import { reasonOf } from '@cdui/protocol';
import type { LoggedRun } from '../control-plane/events/event-log';
import type { RunWorld } from '../control-plane/runs/world';
import type { RemoteRun } from '../control-plane/workers/remote-run';
import type { Worker } from '../control-plane/workers/worker';
import type { WorkerConnection } from '../control-plane/workers/worker-connection';
import type { Fault, SimServer } from './sim-server';

interface Registry {
  numbered(worker: Worker, frame: NumberedFrame): void;
  hello(connection: WorkerConnection, hello: HelloFrame): RejectFrame | null;
  frame(connection: WorkerConnection, frame: object): void;
  away(worker: Worker, reason: Reason): void;
  get(id: string): Worker | null;
  list(): readonly Worker[];
  readonly strays: { cancel(): void };
}

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
      const slots = server.slots;
      const release = slots.release.bind(slots);
      slots.release = (run) => {
        const held = slots.scheduler.held.get(run.id);
        const { counts } = slots.scheduler.cards;
        for (const { worker, device } of held?.slots ?? []) {
          const card = slots.scheduler.cards.cardOf({ worker, device });
          counts.set(card, (counts.get(card) ?? 0) - 1);
        }
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
      const { hello, frame } = registry;
      const replaced = new Set<string>();
      registry.hello = (connection, said) => {
        const before = registry.get(said.name)?.connection;
        if (before && before !== connection) replaced.add(said.name);
        return hello.call(registry, connection, said);
      };
      registry.frame = (connection, said) => {
        frame.call(registry, connection, said);
        const worker = connection.name === null ? null : registry.get(connection.name);
        if (!worker?.online || !replaced.delete(worker.id)) return;
        worker.connection = null;
        registry.away(worker, reasonOf('connection_closed', { close_code: 1006 }));
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
      const slots = server.slots;
      slots.withdraw = ({ id }) => void slots.scheduler.remove(id);
    },
  },
  'a reservation is dropped': {
    server: (server) => {
      const { scheduler } = server.slots;
      scheduler.reserved = () => 0;
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
      server.slots.hold = () => undefined;
    },
  },
  'card grouping is forgotten': {
    server: (server) => {
      const { cards } = server.slots.scheduler;
      const change = cards.change.bind(cards);
      cards.change = (worker) => change({ ...worker, identities: {} });
    },
  },
  'identities are forgotten when a run is taken over': {
    server: (server) => {
      const { slots } = server;
      const hold = slots.hold.bind(slots);
      slots.hold = (run, placement) => {
        const { worker, devices, slots: held } = placement as Placement;
        hold(run, { worker, devices, slots: held });
      };
    },
  },
  'a run for any machine is brought to a draining one': {
    server: (server) => {
      const { machines } = server.slots.scheduler;
      const isOpen = machines.isOpen.bind(machines);
      // Not for ever: the executor sends such a run back at once.
      let times = 5;
      machines.isOpen = (worker) => isOpen(worker) || (worker.online && times-- > 0);
    },
  },
  'a run that came back takes the card that may still execute it': {
    server: (server) => {
      server.slots.scheduler.fences.isFenced = () => false;
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
  'a drained worker is given what had its place there already': {
    server: (server) => {
      const { executor } = server.registry;
      const run = executor.run.bind(executor);
      executor.run = (request) => {
        const worker = registryOf(server).get(request.placement.worker);
        if (!worker?.isDrained) return run(request);
        worker.isDrained = false;
        const result = run(request);
        worker.isDrained = true;
        return result;
      };
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
