import type { AssignFrame, DeviceFacts, Reason, ServerFrame, WantConsoleFrame, WelcomeFrame } from '@cdui/protocol';
import { PROTOCOL_VERSION, reasonOf, WORKER_CLOSE } from '@cdui/protocol';
import { Link, type LinkOwner } from './link';
import { ReconnectPause } from './reconnect-pause';
import { Runs, type RunsOwner } from './runs';
import type { AgentFacts, AgentWorld, ConnectionEnd } from './world';

/** How an agent ended: it was asked to, or the control plane will not have it. */
export type AgentEnd =
  { readonly how: 'stopped' } | { readonly how: 'rejected'; readonly code: string; readonly reason: string };

export interface AgentStatus {
  readonly connected: boolean;
  /** Since when, in milliseconds since the epoch; null before the first try ended. */
  readonly since: number | null;
  /** Why there is no connection; null when there is one. */
  readonly reason: string | null;
  readonly worker_id: string | null;
  readonly running: readonly string[];
  readonly draining: boolean;
  /** Whether it was asked to end at once, and not with its last run. */
  readonly stopping: boolean;
  /** Why no new runs are taken besides; null when they are. */
  readonly refuses: string | null;
  readonly devices: readonly string[];
}

/** A heartbeat waits so long for the newest facts of the devices; then it goes with those that are known. In milliseconds. */
const DEVICES_WAIT_MS = 1_000;
/** How long an agent that ends waits for what its runs said last to be acknowledged; what is not goes with the next agent. */
const LAST_ACK_MS = 5_000;
/** Of runs when the control plane will not have their agent any more. In seconds. */
const REJECTED_GRACE_S = 10;

/**
 * The worker agent's side of the protocol. It dials for ever; after every welcome it says which runs it has, sends what was not acknowledged, and
 * goes on. Runs know nothing of connections coming and going.
 */
export class Agent implements LinkOwner, RunsOwner {
  /** Resolves when the agent has ended: no process of a run is left. */
  readonly over: Promise<AgentEnd>;

  private readonly runs: Runs;
  private readonly pause: ReconnectPause;
  /** Ends the wait for a connection; null while there is one, or nobody waits. */
  private silence: (() => void) | null = null;
  private link: Link | null = null;
  private welcomedAt: number | null = null;
  private workerId: string | null = null;
  private since: number | null = null;
  private reason: string | null = null;
  /** Reasons that were logged since the connection was lost. */
  private readonly logged = new Set<string>();
  private readingDevices = false;
  private drainedByServer = false;
  private drained = false;
  private stopping: Promise<void> | null = null;
  /** Whether its runs were asked to stop as well. */
  private runsEnd = false;
  /** No connection is wanted any more. */
  private hungUp = false;
  private finish!: (end: AgentEnd) => void;
  private readonly waiting: { readonly when: () => boolean; readonly resolve: () => void }[] = [];

  constructor(
    private readonly world: AgentWorld,
    private facts: AgentFacts,
    private readonly tell: () => void = () => undefined,
  ) {
    this.runs = new Runs(world, this);
    this.pause = new ReconnectPause(world.random);
    this.over = new Promise((resolve) => (this.finish = resolve));
  }

  /** Takes over what an earlier agent left, then dials. */
  async start(): Promise<void> {
    await this.runs.takeOver();
    this.waitInSilence();
    this.dial();
  }

  /** What a `hello` says has changed. */
  change(facts: Partial<AgentFacts>): void {
    this.facts = { ...this.facts, ...facts };
    if (this.link?.heartbeatMs) this.hello(this.link);
    this.changed();
  }

  /**
   * Ends the agent: takes no new runs, asks those that it has to stop with that grace, or waits for them (null), while heartbeats go on. Asked
   * again, the shorter grace counts.
   */
  stop(graceS: number | null): void {
    const begins = !this.drained;
    this.drained = true;
    // Whoever gives out runs should know before the next one.
    if (begins && this.link?.heartbeatMs) this.heartbeat(this.link);
    this.runs.refuseWaiting(reasonOf('agent_draining'));
    if (graceS !== null) {
      this.runsEnd = true;
      this.runs.stopAll(graceS, 'agent_stopped');
    }
    this.stopping ??= this.end({ how: 'stopped' });
    this.changed();
  }

  get status(): AgentStatus {
    return {
      connected: this.welcomedAt !== null,
      since: this.since,
      reason: this.reason,
      worker_id: this.workerId,
      running: this.runs.running,
      draining: this.drained || this.drainedByServer,
      stopping: this.runsEnd,
      refuses: this.runs.room.lack?.message ?? null,
      devices: this.facts.devices.map(({ device }) => device),
    };
  }

  // What runs ask.

  mayStart(): boolean {
    return this.link?.startsRuns ?? false;
  }

  refusal({ device, devices, storage }: AssignFrame): Reason | null {
    if (this.drained || this.drainedByServer) return reasonOf('agent_draining');
    const missing = [device, ...devices].find((one) => !this.facts.devices.some((offered) => offered.device === one));
    if (missing !== undefined) return reasonOf('device_not_offered', { device: missing });
    if (storage.backend === 'local') return null;
    return reasonOf('run_not_started', { reason: `the agent cannot use files of the kind "${storage.backend}"` });
  }

  /** Whoever gives out runs should know before the next one. */
  roomChanged(): void {
    if (this.link?.heartbeatMs) this.heartbeat(this.link);
    this.changed();
  }

  launched(): void {
    this.link?.say({ type: 'run_alive', runs: this.runs.alive });
  }

  changed(): void {
    this.tell();
    for (const one of this.waiting.splice(0)) {
      if (one.when()) one.resolve();
      else this.waiting.push(one);
    }
  }

  // What the connection tells.

  opened(link: Link): void {
    this.hello(link);
  }

  welcomed(link: Link, welcome: WelcomeFrame): void {
    this.runs.graceS = welcome.grace_s;
    this.workerId = welcome.worker_id;
    link.say({ type: 'run_alive', runs: this.runs.alive });
    // A second hello was answered: what was sent on this connection need not be sent again.
    if (this.welcomedAt !== null) return;
    // What was said of draining holds as long as the connection did.
    this.drainedByServer = false;
    // It may have begun after the hello.
    if (this.ownDrain.draining) this.heartbeat(link);
    this.since = this.world.clock.now();
    this.welcomedAt = this.world.clock.monotonic();
    this.reason = null;
    this.stopWaiting();
    this.world.log.info(`Connected as worker ${welcome.worker_id}`);
    this.logged.clear();
    this.runs.connect(link);
    this.world.consoles.connect((frame) => {
      if (link !== this.link) return false;
      link.say(frame);
      return link.flowing;
    });
    this.changed();
  }

  frame(link: Link, frame: Exclude<ServerFrame, WelcomeFrame>): void {
    switch (frame.type) {
      case 'assign':
        return this.runs.assign(frame);
      case 'cancel':
        return this.runs.cancel(frame);
      case 'ack':
        this.runs.acknowledge(frame);
        return this.changed();
      case 'drain':
        this.drainedByServer = frame.draining;
        this.world.log.info(frame.draining ? 'Drained: no new runs are taken' : 'New runs are taken again');
        return this.changed();
      case 'want_console':
        return this.console(frame);
      case 'reject':
        return this.rejected(link, frame);
      // Capabilities that this agent does not list.
      case 'credentials':
      case 'fetch_output':
      case 'cancel_fetch':
      case 'drop_outputs':
    }
  }

  beat(link: Link): void {
    void this.runs.room.look();
    this.world.consoles.look();
    const send = (): void => {
      cancel();
      if (sent || link !== this.link) return;
      sent = true;
      this.heartbeat(link);
    };
    let sent = false;
    const cancel = this.world.clock.after(Math.min(DEVICES_WAIT_MS, link.heartbeatMs ?? 0), send);
    // A driver that hangs keeps one look waiting, not the heartbeats.
    if (this.readingDevices) return;
    this.readingDevices = true;
    void this.world.devices().then(
      (devices) => {
        this.readingDevices = false;
        this.deviceFacts(devices);
        send();
      },
      (error: unknown) => {
        this.readingDevices = false;
        this.world.log.warn(`The devices cannot be read: ${String(error)}`);
        send();
      },
    );
  }

  flowing(): void {
    this.runs.flow();
    this.world.consoles.look();
  }

  caughtUp(): void {
    this.runs.look();
  }

  ended(link: Link, end: ConnectionEnd): void {
    if (link !== this.link) return;
    this.link = null;
    const { clock, log } = this.world;
    // One that lasted was a good one; one that ends at once again and again is tried more and more seldom.
    if (this.welcomedAt !== null && clock.monotonic() - this.welcomedAt >= (link.heartbeatMs ?? 0)) this.pause.reset();
    if (end.code === WORKER_CLOSE.replaced) this.pause.atLength();
    if (this.welcomedAt !== null || this.since === null) this.since = clock.now();
    this.welcomedAt = null;
    this.reason = end.reason;
    this.runs.disconnect();
    this.world.consoles.disconnect();
    this.waitInSilence();
    if (!this.logged.has(end.reason)) {
      this.logged.add(end.reason);
      log.warn(`No connection to the control plane: ${end.reason}. It is tried again until it works`);
    }
    this.changed();
    clock.after(this.pause.next(), () => this.dial());
  }

  /** Runs that nobody has heard of for so long are stopped, where that was asked for. */
  private waitInSilence(): void {
    const { stopAfterSilenceMs: ms, clock, log } = this.world;
    if (ms === undefined || this.silence !== null) return;
    this.silence = clock.after(ms, () => {
      log.warn(`There was no connection for ${ms / 1000} s: runs are stopped`);
      this.runs.stopAll(this.runs.graceS, 'server_unreachable');
    });
  }

  private stopWaiting(): void {
    this.silence?.();
    this.silence = null;
  }

  private dial(): void {
    if (this.hungUp) return;
    this.link = new Link(this.world.clock, this);
    this.world.dialer.dial(this.link);
  }

  private hello(link: Link): void {
    link.say({ type: 'hello', protocol_version: PROTOCOL_VERSION, ...this.facts, ...this.ownDrain });
  }

  private heartbeat(link: Link): void {
    link.say({ type: 'heartbeat', devices: this.facts.devices, running: this.runs.running, ...this.ownDrain });
  }

  /** Said only when it is so: what the server itself asked for it need not be told. */
  private get ownDrain(): { readonly draining?: true } {
    return this.drained || this.runs.room.lack !== null ? { draining: true } : {};
  }

  private deviceFacts(devices: readonly DeviceFacts[]): void {
    const known = identity(this.facts.devices);
    this.facts = { ...this.facts, devices };
    if (identity(devices) !== known) this.change({ devices });
  }

  /** What a run printed can be read as long as its folder is there. */
  private console({ run_id: id, attempt, offset }: WantConsoleFrame): void {
    const known = this.runs.attemptOf(id);
    if (known !== null && known !== attempt) return;
    this.world.consoles.follow(id, attempt, offset);
    if (!this.runs.running.includes(id)) void this.world.consoles.over(id);
  }

  private rejected(link: Link, { code, reason }: { readonly code: string; readonly reason: string }): void {
    this.world.log.warn(`The control plane refuses this agent: ${reason}`, { code });
    this.reason = reason;
    this.drained = true;
    this.hungUp = true;
    this.runsEnd = true;
    this.runs.stopAll(REJECTED_GRACE_S, 'agent_stopped');
    link.close(1000, 'rejected');
    this.stopping ??= this.end({ how: 'rejected', code, reason });
  }

  private async end(end: AgentEnd): Promise<void> {
    await this.until(() => this.runs.idle);
    let late = false;
    const cancel = this.world.clock.after(LAST_ACK_MS, () => {
      late = true;
      this.changed();
    });
    await this.until(() => late || this.welcomedAt === null || this.runs.settled);
    cancel();
    this.stopWaiting();
    this.hungUp = true;
    const { link } = this;
    this.link = null;
    link?.close(1000, 'the agent was stopped');
    link?.ended({ code: 1000, reason: 'the agent was stopped' });
    this.finish(end);
  }

  private until(when: () => boolean): Promise<void> {
    return when() ? Promise.resolve() : new Promise((resolve) => this.waiting.push({ when, resolve }));
  }
}

/** What of the devices is no measurement. */
function identity(devices: readonly DeviceFacts[]): string {
  return JSON.stringify(devices.map(({ device, name, uuid, total_bytes }) => [device, name, uuid, total_bytes]));
}
