import { Agent } from '../agent/core/agent';
import { finishedMembers, outcomeOf } from '../agent/core/outcome';
import { FACTS, ModelDisk } from '../agent/core/testing/model-world';
import type { ConnectionEvents } from '../agent/core/world';
import type { LaunchedRun, StopAuthor } from '../agent/runner/launcher';
import type { RunOutlet } from '../agent/runner/run-outlet';
import type { AssignFrame, DeviceFacts, NumberedFrameType } from '@cdui/protocol';
import { identitiesOf } from '../control-plane/workers/identities';
import type { Party, SimTime } from './time';

/** A run's process: it does what the story lets it do, and stops when its agent says so and time has passed. */
export class SimProcess {
  began = false;
  /** Frames that it reported after its start. */
  said = 0;
  finished: 'succeeded' | 'failed' | 'cancelled' | null = null;
  gone = false;
  private end!: () => void;
  readonly over = new Promise<void>((resolve) => (this.end = resolve));

  constructor(
    readonly agent: string,
    readonly assignment: AssignFrame,
    private readonly outlet: RunOutlet,
    private readonly party: Party,
  ) {}

  begin(): void {
    if (this.began || this.gone) return;
    this.began = true;
    this.frame('run_started', { visible_devices: null, device_aliases: {} });
  }

  say(): void {
    if (!this.began || this.gone) return;
    this.said += 1;
    const detail = `${this.assignment.attempt}.${this.said}`;
    this.frame('warning', { at_ms: 0, warning: { kind: 'said', detail } });
  }

  finish(status: 'succeeded' | 'failed' | 'cancelled'): void {
    if (this.gone) return;
    this.gone = true;
    this.finished = status;
    this.outlet.frame('run_finished', Buffer.from(finishedMembers(outcomeOf(status, null))));
    this.end();
  }

  stop(graceS: number, by: StopAuthor): void {
    if (graceS === 0) this.finish('cancelled');
    else this.party.clock.after(graceS * 1000, () => this.finish(by === 'cancel' ? 'cancelled' : 'failed'));
  }

  /** Its agent died, and took it along. */
  die(): void {
    this.gone = true;
  }

  private frame(type: NumberedFrameType, value: object): void {
    this.outlet.frame(type, Buffer.from(JSON.stringify(value).slice(1)));
  }
}

/** A machine that agents may share, and the cards that an agent sees there. */
export interface SimMachine {
  readonly id: string | null;
  readonly uuids: Readonly<Record<string, string>>;
}

/** An agent of the simulated world: the real protocol on a disk that survives it. */
export class SimAgent {
  readonly disk = new ModelDisk();
  agent!: Agent;
  party!: Party;
  /** Every process that it ever started. */
  readonly processes: SimProcess[] = [];
  isUp = false;

  constructor(
    readonly name: string,
    private readonly devices: readonly string[],
    private readonly time: SimTime,
    private readonly world: {
      readonly random: () => number;
      readonly dial: (agent: SimAgent, events: ConnectionEvents) => void;
      readonly launched: (process: SimProcess) => void;
    },
    /** Where its devices are. */
    private readonly machine: SimMachine = { id: null, uuids: {} },
  ) {}

  /** The physical devices behind its own. */
  get identities(): Readonly<Record<string, string>> {
    return identitiesOf(this.facts, { id: this.machine.id, isServers: false });
  }

  get living(): readonly SimProcess[] {
    return this.processes.filter(({ gone }) => !gone);
  }

  async start(): Promise<void> {
    this.party = this.time.party();
    this.isUp = true;
    const { party } = this;
    this.agent = new Agent(
      {
        clock: party.clock,
        random: this.world.random,
        dialer: { dial: (events) => void queueMicrotask(() => this.world.dial(this, events)) },
        spools: this.disk.of(),
        launcher: { launch: (assignment, outlet) => this.launch(assignment, outlet, party) },
        consoles: {
          follow: () => undefined,
          connect: () => undefined,
          look: () => undefined,
          over: () => undefined,
          disconnect: () => undefined,
        },
        devices: () => Promise.resolve(this.facts),
        log: { info: () => undefined, warn: () => undefined },
      },
      {
        ...{ ...FACTS, name: this.name, devices: this.facts, capabilities: ['ack', 'run_facts'] },
        ...{ machine_id: this.machine.id, catalog_hash: 'catalog' },
      },
    );
    await this.agent.start();
  }

  /** The program dies; its runs die with it. What is on the disk stays. */
  crash(): void {
    this.isUp = false;
    this.party.kill();
    this.disk.died();
    for (const process of this.living) process.die();
  }

  private launch(assignment: AssignFrame, outlet: RunOutlet, party: Party): LaunchedRun {
    const process = new SimProcess(this.name, assignment, outlet, party);
    this.processes.push(process);
    this.world.launched(process);
    return { over: process.over, stop: (graceS, by) => process.stop(graceS, by) };
  }

  private get facts(): readonly DeviceFacts[] {
    return this.devices.map((device) => ({
      ...{
        device,
        name: device,
        uuid: this.machine.uuids[device] ?? null,
        total_bytes: 1,
        free_bytes: 1,
        utilization: null,
      },
    }));
  }
}
