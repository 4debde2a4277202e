import { MemoryDatabase } from '@cdui/execution/testing/memory-stores';
import { isTerminal } from '@cdui/protocol';
import type { Placed } from '@cdui/scheduling';
import type { FakeExecution } from '../control-plane/runs/testing/fake-executor';
import { GRAPH } from '../control-plane/runs/testing/simulation';
import type { ConnectionEvents } from '../agent/core/world';
import { SimLine } from './network';
import { SimAgent, type SimProcess } from './sim-agent';
import { type Fault, SimServer } from './sim-server';
import type { StoredWorker } from '../control-plane/workers/world';
import { Chance, SimTime, settled } from './time';
import { Witness } from './witness';

/** All of them stand on one machine, and two offer one of its cards. */
const AGENTS: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  one: { cpu: null },
  two: { 'cuda:0': 'GPU-A', 'cuda:1': 'GPU-B' },
  three: { cpu: null, 'cuda:0': 'GPU-B' },
};
const TARGETS = [
  { worker: 'one' },
  { worker: 'three' },
  { worker: 'three', devices: ['cuda:0'] },
  { worker: 'any' },
  { worker: 'any' },
  { worker: 'any', devices: ['cuda:0'] },
  { worker: 'any', devices: ['cuda:0', 'cuda:1'] },
  { worker: 'two', devices: ['cuda:0'] },
  { worker: 'two', devices: ['cuda:1'] },
  { worker: 'two', devices: ['cuda:0', 'cuda:1'] },
];

const STEPS = [
  [10, 'submit'],
  [3, 'cancel'],
  [10, 'begin'],
  [18, 'say'],
  [8, 'finish'],
  [30, 'deliver'],
  [8, 'deliver all'],
  [3, 'break'],
  [2, 'break silently'],
  [2, 'crash the server'],
  [2, 'crash an agent'],
  [1, 'lose the disk of an agent'],
  [2, 'freeze an agent'],
  [2, 'drain'],
  [2, 'undrain'],
  [3, 'end a run of the server'],
  [2, 'cut an agent off'],
  [2, 'hold commits'],
  [3, 'commit some'],
  [2, 'let commits go'],
  [1, 'fail commits'],
  [2, 'forge'],
  [8, 'wait'],
  [3, 'wait long'],
  [1, 'wait beyond the grace'],
] as const;

/**
 * A world and what happens in it, all of it decided by one number: agents, a server that is killed and started again, lines that break, a
 * database that commits late or not at all. The same number always gives the same story.
 */
export class Story {
  readonly witness = new Witness();
  /** What happened, for people. */
  readonly told: string[] = [];
  private readonly time = new SimTime();
  private readonly chance: Chance;
  private readonly agents: readonly SimAgent[];
  private lines: { readonly agent: SimAgent; readonly line: SimLine }[] = [];
  private server: SimServer;
  private lastId = 0;
  private readonly known = new Map<string, StoredWorker>();
  /** Until when nothing gets from an agent to the server. */
  private readonly unreachableUntil = new Map<string, number>();
  private readonly ids: string[] = [];

  constructor(
    readonly seed: number,
    private readonly fault: Fault = {},
  ) {
    this.chance = new Chance(seed);
    this.agents = Object.entries(AGENTS).map(
      ([name, devices]) =>
        new SimAgent(
          name,
          Object.keys(devices),
          this.time,
          {
            random: () => this.chance.next(),
            dial: (agent, events) => this.dial(agent, events),
            launched: (process) => this.witness.launched(process),
          },
          { id: 'machine', uuids: devices as Readonly<Record<string, string>> },
        ),
    );
    this.server = this.newServer(new MemoryDatabase());
  }

  /** @returns what the witness found wrong, at the first step after which there was something */
  async tell(steps: number): Promise<readonly string[]> {
    await this.server.recover();
    for (const agent of this.agents) await agent.start();
    await this.pass(1_000);
    for (let step = 0; step < steps && this.witness.problems.length === 0; step++) {
      const next = this.chance.weighted(STEPS);
      this.told.push(next);
      await this.act(next);
      await settled();
      await this.witness.look(this.server, this.agents, this.time.now);
    }
    if (this.witness.problems.length === 0) await this.toTheEnd();
    return this.witness.problems;
  }

  private async act(step: (typeof STEPS)[number][1]): Promise<void> {
    const { chance, server, agents } = this;
    const processes = agents.flatMap(({ isUp, living }) => (isUp ? living : []));
    switch (step) {
      case 'submit':
        return this.submit();
      case 'cancel': {
        const id = chance.pick(this.ids);
        if (id !== undefined) void server.service.cancel(id).catch(() => undefined);
        return;
      }
      case 'begin':
        return chance.pick(processes.filter(({ began }) => !began))?.begin();
      case 'say': {
        const process = chance.pick(processes);
        for (let count = chance.below(20); count >= 0; count--) process?.say();
        return;
      }
      case 'finish':
        return chance
          .pick(processes.filter(({ began }) => began))
          ?.finish(chance.next() < 0.7 ? 'succeeded' : 'failed');
      case 'deliver':
        return this.deliver(1 + chance.below(6));
      case 'deliver all':
        return this.deliverAll();
      case 'break':
        return chance.pick(this.lines)?.line.break(chance.below(4), chance.below(4), { server: false, agent: false });
      case 'break silently':
        return chance
          .pick(this.lines)
          ?.line.break(chance.below(4), chance.below(4), { server: chance.next() < 0.5, agent: chance.next() < 0.5 });
      case 'crash the server':
        return this.restartServer();
      case 'crash an agent':
      case 'lose the disk of an agent': {
        const agent = chance.pick(agents)!;
        agent.crash();
        if (step !== 'crash an agent') agent.disk.spools.clear();
        for (const { agent: owner, line } of this.lines) if (owner === agent) line.agentDied(chance.next() < 0.5);
        return agent.start();
      }
      case 'freeze an agent':
        return chance.pick(agents)?.party.freeze(chance.below(90_000));
      case 'drain':
      case 'undrain': {
        const worker = chance.pick(server.registry.list());
        if (worker) server.registry.drain(worker, step === 'drain');
        return;
      }
      case 'end a run of the server':
        return this.endHere(chance.pick([...server.executor.running.values()]));
      case 'cut an agent off': {
        const agent = chance.pick(agents)!;
        this.unreachableUntil.set(agent.name, this.time.now + chance.below(500_000));
        for (const { agent: owner, line } of this.lines) {
          if (owner === agent) line.break(chance.below(4), chance.below(4), { server: false, agent: false });
        }
        return;
      }
      case 'hold commits':
        return server.database.hold();
      case 'commit some':
        return server.database.commit(1 + chance.below(3));
      case 'let commits go':
        server.database.failing = null;
        return server.database.release();
      case 'fail commits':
        server.database.failing = 'the disk is full';
        return;
      case 'forge':
        return this.forge();
      case 'wait':
        return this.pass(chance.below(2_000));
      case 'wait long':
        return this.pass(chance.below(60_000));
      case 'wait beyond the grace':
        return this.pass(400_000);
    }
  }

  private endHere(execution: FakeExecution | undefined): void {
    execution?.begin();
    execution?.end();
  }

  private submit(): void {
    const target = this.chance.pick(TARGETS)!;
    const seed = this.chance.next() < 0.1 ? 7 : null;
    // What is refused is refused with a reason: the worker was never there.
    void this.server.service.submit({ graph: GRAPH, options: { target, seed } }).then(
      ({ run_id: id }) => this.witness.acknowledged.add(id),
      () => undefined,
    );
    this.ids.push(this.lastId.toString(16).padStart(32, '0'), (this.lastId + 1).toString(16).padStart(32, '0'));
  }

  /** A worker says something about a run that is another's. */
  private forge(): void {
    const entry = this.chance.pick(this.lines.filter(({ line }) => line.isWhole));
    const run = this.chance.pick(
      this.server.database.records().filter(({ workerId }) => workerId !== null && workerId !== entry?.agent.name),
    );
    if (!entry || !run) return;
    const head = { run_id: run.id, attempt: 1, seq: run.recordedSeq + 1, at_ms: 0 };
    const frame = { type: 'warning', ...head, warning: { kind: 'said', detail: 'forged' } };
    entry.line.connection.send(JSON.stringify(frame));
  }

  private dial(agent: SimAgent, events: ConnectionEvents): void {
    const reachable = this.time.now >= (this.unreachableUntil.get(agent.name) ?? 0);
    if (!this.server.isUp || !agent.isUp || !reachable) return events.ended({ code: null, reason: 'refused' });
    const line = new SimLine(events);
    this.lines.push({ agent, line });
    this.server.accept(line, agent.name);
    line.open();
  }

  private async restartServer(): Promise<void> {
    const database = this.server.crash(this.chance.next() < 0.3);
    this.server = this.newServer(database);
    this.witness.serverRestarted();
    await this.server.recover();
  }

  private newServer(database: MemoryDatabase): SimServer {
    const hooks = {
      known: this.known,
      runId: () => (++this.lastId).toString(16).padStart(32, '0'),
      placed: (placed: Placed, expected: Placed | null) => this.witness.placed(placed, expected),
      next: (asked: SimServer) => this.witness.byTheRules(asked, this.agents),
      sends: (agent: string, frame: Parameters<Witness['sends']>[1]) => this.witness.sends(agent, frame, server),
      // That storage fails is part of the story.
      report: () => undefined,
    };
    const server = new SimServer(database, this.time, hooks, this.fault);
    return server;
  }

  private deliver(count: number): void {
    for (let index = 0; index < count; index++) {
      const { chance } = this;
      const entry = chance.pick(this.lines.filter(({ line }) => line.pendingToServer + line.pendingToAgent > 0));
      if (!entry) return;
      if (chance.next() < 0.5) entry.line.deliverToServer();
      else entry.line.deliverToAgent();
    }
    this.lines = this.lines.filter(({ line }) => !line.isOver);
  }

  private async deliverAll(): Promise<void> {
    for (let round = 0; round < 50; round++) {
      let some = false;
      for (const { line } of this.lines) {
        for (let n = line.pendingToServer; n > 0; n--, some = true) line.deliverToServer();
        for (let n = line.pendingToAgent; n > 0; n--, some = true) line.deliverToAgent();
      }
      this.lines = this.lines.filter(({ line }) => !line.isOver);
      await settled();
      if (!some) return;
    }
  }

  /** Time passes, and what is on its way arrives. */
  private async pass(ms: number): Promise<void> {
    const until = this.time.now + ms;
    while (this.time.step(until)) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.lines.some(({ line }) => line.pendingToAgent + line.pendingToServer > 0)) await this.deliverAll();
    }
    await settled();
  }

  /** Nothing breaks any more: everything must come to an end. */
  private async toTheEnd(): Promise<void> {
    this.told.push('to the end');
    const { witness } = this;
    this.unreachableUntil.clear();
    for (const worker of this.server.registry.list()) this.server.registry.drain(worker, false);
    for (let round = 0; round < 60; round++) {
      this.server.database.failing = null;
      this.server.database.release();
      await this.pass(round < 4 ? 100_000 : 20_000);
      await witness.look(this.server, this.agents, this.time.now);
      if (witness.problems.length > 0) return;
      for (const execution of this.server.executor.running.values()) this.endHere(execution);
      const processes: readonly SimProcess[] = this.agents.flatMap(({ living }) => living);
      for (const process of processes) {
        process.begin();
        process.finish('succeeded');
      }
      const open = this.server.database.records().filter(({ status }) => !isTerminal(status));
      // One that was frozen, and then does not hear that its line is dead, takes its time.
      if (round > 0 && open.length === 0 && processes.length === 0) break;
    }
    const open = this.server.database.records().filter(({ status }) => !isTerminal(status));
    for (const { id, status } of open) witness.blame(`${id}: it is ${status} for ever`);
    for (const { name, agent } of this.agents) {
      if (!this.server.registry.get(name)?.online) witness.blame(`${name}: it is connected and taken to be away`);
      if (agent.status.running.length > 0) witness.blame(`${name}: it still executes ${agent.status.running.join()}`);
    }
  }
}
