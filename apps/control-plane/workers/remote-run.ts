import type { ExecutionOutcome, ExecutionRequest, Fingerprint, RunReturned } from '@cdui/execution';
import type { NumberedFrame, Reason, RunAliveFrame, RunOutcome, ServerFrame, StopReason } from '@cdui/protocol';
import { isPlainObject, reasonOf } from '@cdui/protocol';
import { Acknowledgements } from './acknowledgements';
import type { WorkerWorld } from './world';

/** The worker that a run was given to, as far as the run is concerned. */
export interface RunHome {
  readonly id: string;
  readonly online: boolean;
  /** What it said of its environment. */
  readonly fingerprint: Fingerprint | undefined;
  hasCapability(name: string): boolean;
  send(frame: ServerFrame): void;
  /** Stops reading what it sends until the answer is called. */
  hold(): () => void;
  /** Ends its connection: it does not answer. */
  cutOff(reason: Reason): void;
}

type Result = ExecutionOutcome | RunReturned;
type Alive = RunAliveFrame['runs'][number];
type Phase = 'assigned' | 'started' | 'away' | 'over';

/** One attempt of a run on a worker, from its assignment to its last frame, however often the connection is lost in between. */
export class RemoteRun {
  readonly result: Promise<Result>;
  private settle!: (result: Result) => void;
  private phase: Phase;
  /** The newest frame that was taken in. */
  private lastSeq: number;
  private readonly acks: Acknowledgements;
  private stopTimer: () => void = () => undefined;
  private asked: StopReason | null = null;
  /** Where the console text goes on; null while nobody knows. */
  private consoleAt: number | null = null;
  private wantsConsole = false;
  private holding = false;
  /** Whether its last frame came: it is acknowledged when the run's end is durable. */
  private finished = false;
  private gone: () => void = () => undefined;

  constructor(
    private readonly request: ExecutionRequest & { readonly place: NonNullable<ExecutionRequest['place']> },
    private readonly home: RunHome,
    private readonly world: WorkerWorld,
  ) {
    const { kind, place, signal } = request;
    const recorded = kind === 'adopt' ? request.recordedSeq : 0;
    this.lastSeq = recorded;
    this.phase = kind === 'adopt' ? 'away' : 'assigned';
    this.acks = new Acknowledgements(world.clock, (seq) => this.send({ type: 'ack', ...this.name, seq }), recorded);
    this.result = new Promise((resolve) => (this.settle = resolve));
    place.onDurable((seq) => this.durable(seq));
    place.onLost(() => this.stop('lost'));
    if (signal.aborted) this.stop(signal.reason as StopReason);
    else signal.addEventListener('abort', () => this.stop(signal.reason as StopReason), { once: true });
  }

  get attempt(): number {
    return this.request.place.attempt;
  }

  /** @param gone called when frames about it are not its business any more */
  onGone(gone: () => void): void {
    this.gone = gone;
  }

  /** Sends the assignment, or waits for the worker that has it already. */
  begin(): void {
    const { request, world } = this;
    if (this.phase === 'over') return;
    if (request.kind === 'adopt') {
      this.waitForReturn();
      return;
    }
    const { graph, options, placement, folders, inputs } = request;
    const device = placement.devices[0] ?? 'cpu';
    this.send({
      type: 'assign',
      ...this.name,
      graph,
      options: { ...options, device },
      device,
      devices: placement.devices,
      storage: { backend: 'local', folders },
      payload_cap_bytes: world.limits.payloadCapBytes,
      max_parallel_nodes: world.limits.maxParallelNodes,
      ...(request.provenance && { provenance: true }),
      grace_s: world.limits.cancelGraceS,
      ...(inputs && { inputs }),
    });
    this.stopTimer = world.clock.after(world.limits.assignTimeoutMs, () => {
      const seconds = world.limits.assignTimeoutMs / 1000;
      this.home.cutOff(reasonOf('assign_timeout', { worker: this.home.id, seconds }));
    });
  }

  /** Takes in the next frame; what it has seen is dropped. */
  frame(frame: NumberedFrame): void {
    if (this.phase === 'over') return;
    const { seq } = frame;
    if (seq <= this.lastSeq) return;
    if (seq > this.lastSeq + 1) this.tellGap(this.lastSeq + 1, seq - 1);
    this.lastSeq = seq;
    const { place } = this.request;
    if (frame.type === 'run_finished') {
      this.finish(frame.outcome);
      return;
    }
    const more = this.report(frame);
    place.covered(seq);
    if (!more) this.holdUntilDrained();
  }

  /** A frame that cannot be understood: what follows it makes no whole any more. */
  brokenFrame(seq: number, problem: string): void {
    if (this.phase === 'over' || seq <= this.lastSeq) return;
    this.send({ type: 'cancel', ...this.name, grace_s: 0 });
    const reason = reasonOf('worker_frame_invalid', { worker: this.home.id, problem });
    this.over({ ...this.lost(reason), status: 'failed' });
  }

  console(offset: number, bytes: number, text: string): void {
    if (this.phase === 'over' || offset !== this.consoleAt) return;
    this.consoleAt = offset + bytes;
    if (!this.request.sinks.console(text)) this.holdUntilDrained();
  }

  /** The connection ended. A run that did not begin may begin elsewhere: the agent discards what it has not started. */
  connectionLost(reason: Reason): void {
    if (this.phase === 'assigned') this.over({ status: 'returned', reason, unanswered: true });
    if (this.phase !== 'started') return;
    this.stopTimer();
    this.phase = 'away';
    this.request.place.disconnected(reason);
    this.waitForReturn();
  }

  /**
   * The worker says which runs it has: when it is back, and when a process was started.
   *
   * @param alive what it has of this attempt; undefined: nothing
   */
  connectionBack(alive: Alive | undefined): void {
    if (this.phase === 'assigned' && alive) {
      // Its process may take its time to load.
      this.stopTimer();
      this.phase = 'started';
    }
    if (this.phase !== 'away') return;
    this.stopTimer();
    // A worker that knows less than it sent before has lost what it reported: what it would send now has numbers that were used.
    if (!alive || alive.last_seq < this.lastSeq) {
      if (alive) this.send({ type: 'cancel', ...this.name, grace_s: 0 });
      this.over(this.lost(reasonOf('run_lost', { worker: this.home.id })));
      return;
    }
    this.phase = 'started';
    this.request.place.reconnected();
    this.acks.tell();
    if (this.asked !== null) this.sendCancel();
    if (this.lastSeq > 0) void this.askForConsole();
  }

  /** This server stops: nothing is waited for any more, and nothing is said. */
  forsake(): void {
    this.acks.stop();
    this.stopTimer();
  }

  private durable(seq: number): void {
    this.acks.reached(seq);
    if (!this.finished || seq < this.lastSeq) return;
    this.acks.tell();
    this.gone();
  }

  private report(frame: Exclude<NumberedFrame, { type: 'run_finished' }>): boolean {
    const { sinks, place } = this.request;
    switch (frame.type) {
      case 'run_started': {
        this.stopTimer();
        this.phase = 'started';
        const { visible_devices, device_aliases } = frame;
        place.addFacts({ visible_devices, device_aliases, fingerprint_source: 'worker' }, this.home.fingerprint);
        void this.askForConsole();
        // Its process had to start first; what comes late is no less old.
        return sinks.started(frame.after_ms ?? 0);
      }
      case 'event':
        return sinks.emit(frame.event, frame.at_ms);
      case 'metrics':
        return sinks.recordMetrics(frame.points, frame.at_ms);
      case 'artifact':
        return sinks.recordArtifact(frame.artifact, frame.at_ms);
      case 'warning':
        return sinks.warn(frame.warning, frame.at_ms);
      case 'run_facts':
        this.keepFacts(frame.facts);
        return true;
    }
  }

  private keepFacts({ fingerprint, provenance, ...facts }: Readonly<Record<string, unknown>>): void {
    const { place } = this.request;
    if (isPlainObject(provenance) && typeof provenance['node_id'] === 'string') {
      place.addProvenance({ ...provenance, node_id: provenance['node_id'] });
      return;
    }
    if (typeof fingerprint !== 'object' || fingerprint === null) {
      place.addFacts(facts);
      return;
    }
    const document = fingerprint as Readonly<Record<string, unknown>>;
    place.addFacts({ ...facts, fingerprint_source: 'worker-run' }, this.world.fingerprint(document));
  }

  private finish({ reason, ...outcome }: RunOutcome): void {
    const { phase, home } = this;
    const coded = reason && { ...reason, message: outcome.error ?? reason.code };
    if (phase === 'assigned' && coded?.code === 'agent_draining') {
      // It was assigned in the moment in which the agent began to drain.
      this.acks.reached(this.lastSeq);
      this.acks.tell();
      const why = reasonOf('worker_draining', { worker: home.id });
      this.over({ status: 'returned', reason: why, unanswered: false });
      return;
    }
    this.request.place.endedAt(this.lastSeq);
    this.finished = true;
    this.over({ ...outcome, reason: coded, facts: null });
  }

  private stop(reason: StopReason): void {
    if (this.phase === 'over') return;
    if (reason === 'lost') {
      this.send({ type: 'cancel', ...this.name, grace_s: 0 });
      this.over(this.lost(null));
      return;
    }
    this.asked ??= reason;
    if (this.phase !== 'away') this.sendCancel();
  }

  private sendCancel(): void {
    this.send({ type: 'cancel', ...this.name, grace_s: this.world.limits.cancelGraceS });
  }

  private waitForReturn(): void {
    const { clock, limits } = this.world;
    const adopted = this.request.kind === 'adopt' && !this.home.online;
    this.stopTimer = clock.after(limits.resumeGraceMs, () => {
      const seconds = limits.resumeGraceMs / 1000;
      const worker = this.home.id;
      if (!adopted) {
        this.request.place.graceOver(reasonOf('worker_gone', { worker, seconds }));
        return;
      }
      const { code, params, message: text } = reasonOf('no_reconnect_after_restart', { seconds });
      const reason = { code, params, text };
      this.request.place.graceOver(reasonOf('worker_lost_after_restart', { worker, reason }));
    });
  }

  private tellGap(from: number, to: number): void {
    const { code, params, message: detail } = reasonOf('worker_frames_lost', { worker: this.home.id, from, to });
    this.world.log('warn', detail, { run_id: this.request.runId, from, to });
    this.request.sinks.warn({ kind: code, detail, code, params }, 0);
  }

  /** The text is its own spool: the server says where it goes on. */
  private async askForConsole(): Promise<void> {
    if (!this.home.hasCapability('console')) return;
    if (this.consoleAt === null) {
      if (this.wantsConsole) return;
      this.wantsConsole = true;
      this.consoleAt = await this.world.printed(this.request.runId);
    }
    if (this.phase === 'started') this.send({ type: 'want_console', ...this.name, offset: this.consoleAt });
  }

  private holdUntilDrained(): void {
    if (this.holding) return;
    this.holding = true;
    const letGo = this.home.hold();
    void this.request.sinks.drained().then(() => {
      this.holding = false;
      letGo();
    });
  }

  private lost(reason: Reason | null): ExecutionOutcome {
    const nothing = { failed_nodes: [], skipped_nodes: [], peak_memory: [], facts: null, seconds: 0 };
    return { status: 'interrupted', error: reason?.message ?? null, reason, ...nothing };
  }

  private over(result: Result): void {
    this.stopTimer();
    this.phase = 'over';
    this.settle(result);
    if (this.finished) return;
    this.acks.stop();
    this.gone();
  }

  private send(frame: ServerFrame): void {
    this.home.send(frame);
  }

  private get name(): { readonly run_id: string; readonly attempt: number } {
    return { run_id: this.request.runId, attempt: this.attempt };
  }
}
