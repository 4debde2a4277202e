import { MachineFingerprint, peakRss } from '@cdui/host';
import type { AssignFrame, GraphFile, RunHostMessage, StopReason } from '@cdui/protocol';
import { CodedError, encodePipeFrame } from '@cdui/protocol';
import {
  CatalogueLoader,
  FLOW_GRANT,
  graphProvenance,
  hostSettings,
  loadProviders,
  RunHost,
  sleep,
} from '@cdui/run-host';
import { deviceEnvironment } from '../runner/child-environment';
import type { DeviceView } from '../runner/device-view';
import { deviceView } from '../runner/device-view';
import { keepStandardStreams, print } from './console';
import type { PipeWriter } from './pipe-writer';
import { framesOf, isUrgent, outputLost } from './run-frames';

export interface RunChildWorld {
  readonly pipe: (taken: (frames: number) => void) => PipeWriter;
  /** The request to stop, where a loop that never yields sees it. */
  readonly stopRequested: () => StopReason | null;
  /** Called when everything about the run was taken in by the agent and its runtime is closed. */
  readonly over: () => void;
}

/** A runtime that does not close within this time is left to the end of the process. */
const CLOSE_MS = 2_000;

/** The one run of this process: a run host whose messages go to the agent. */
export class RunChild {
  private readonly loader = new CatalogueLoader();
  private readonly pipe: PipeWriter;
  private readonly customNodes = process.env['CODEFYUI_CUSTOM_NODES_DIR'] ?? null;
  private readonly presets = process.env['CODEFYUI_PRESETS_DIR'] ?? null;
  private host: RunHost | null = null;
  private runId = '';
  private taken = 0;
  /** When the graph began to execute, on the monotonic clock; null before. */
  private begun: number | null = null;
  /** The system's code, when something printed could not be written. */
  private lost: string | null = null;
  private ending = false;
  /** How long it took from the assignment until the host began. */
  private afterMs = 0;
  /** Whose nodes are to be told where their code comes from. */
  private provenance: GraphFile | null = null;

  constructor(private readonly world: RunChildWorld) {
    this.pipe = world.pipe((frames) => this.took(frames));
  }

  /** Compiles custom modules ahead of the run, and says that the process can take it. */
  prepare(): void {
    this.loader.load({ customNodes: this.customNodes, presets: this.presets });
    this.pipe.push(encodePipeFrame('ready'), true);
  }

  /** @param assignedAt when the agent got it, in milliseconds since the epoch */
  start(assignment: AssignFrame, assignedAt: number): void {
    this.afterMs = Math.max(0, Date.now() - assignedAt);
    const view = deviceView(assignment.devices);
    Object.assign(process.env, deviceEnvironment(view));
    const { run_id: runId, graph, options, storage, inputs } = assignment;
    if (storage.backend !== 'local') {
      const message = `Run ${runId} keeps its files with the backend "${storage.backend}", which this worker cannot use`;
      throw new CodedError('storage_unsupported', message, { backend: storage.backend });
    }
    this.runId = runId;
    this.provenance = assignment.provenance === true ? graph : null;
    const host = this.hostFor(assignment, view);
    this.host = host;
    const own = { ...options, device: view.device };
    // The runtime's thread starts while the graph is planned. What goes wrong is told to the run, which tries again.
    void host.warmUp(view.device);
    host.handle({
      type: 'start',
      run_id: runId,
      graph,
      options: own,
      // Node code is the worker's own, whoever lends the folders.
      folders: { ...storage.folders, customNodes: this.customNodes },
      ...(inputs && { inputs }),
    });
  }

  cancel(reason: StopReason): void {
    this.host?.handle({ type: 'cancel', run_id: this.runId, reason });
  }

  /** Text that node code wrote to a standard stream. */
  console(text: string): void {
    if (this.host) this.host.console(text);
    else this.print(text);
  }

  /** Whether a run was there to be told of an error that nobody caught. */
  defect(error: unknown): boolean {
    this.host?.defect(error);
    return this.host !== null;
  }

  private hostFor(assignment: AssignFrame, view: DeviceView): RunHost {
    const facts = {
      view,
      fingerprint: (runtime: unknown) => this.fingerprint(runtime),
      peakRss: () => peakRss(process.pid),
      afterMs: () => this.afterMs,
    };
    return new RunHost({
      post: (message) => {
        if (!('request_id' in message)) this.report(message, facts);
      },
      print: (text) => this.print(text),
      settings: {
        ...hostSettings(process.env),
        payloadCapBytes: assignment.payload_cap_bytes,
        maxParallel: assignment.max_parallel_nodes,
        presets: this.presets,
      },
      catalogue: (folders) => this.loader.load(folders),
      openRuntime: (device, options) => loadProviders(process.env).open(device, options),
      stopRequested: this.world.stopRequested,
      now: () => performance.now(),
      sleep,
      session: false,
    });
  }

  private report(message: RunHostMessage, facts: Parameters<typeof framesOf>[1]): void {
    if (message.type === 'ready' || message.type === 'console') return;
    // After each step of a node: before anything else takes the place of a stream that it closed.
    if (isUrgent(message)) keepStandardStreams();
    for (const frame of framesOf(message, facts)) this.pipe.push(frame, isUrgent(message));
    if (message.type === 'run_started') {
      this.begun = performance.now();
      this.tellLost();
      this.tellProvenance();
    }
    if (message.type === 'run_finished') void this.end();
  }

  private print(text: string): void {
    const error = print(text);
    if (error === null || this.lost !== null) return;
    this.lost = error;
    keepStandardStreams();
    this.tellLost();
  }

  /** Once, and not before the run has begun. */
  private tellLost(): void {
    if (this.begun === null || this.lost === null || this.ending) return;
    this.pipe.push(outputLost(performance.now() - this.begun, this.lost), true);
  }

  private tellProvenance(): void {
    if (this.provenance === null) return;
    const catalogue = this.loader.load({ customNodes: this.customNodes, presets: this.presets });
    for (const record of graphProvenance(this.provenance, catalogue, this.customNodes)) {
      this.pipe.push(encodePipeFrame('run_facts', { facts: { provenance: record } }), false);
    }
  }

  private fingerprint(runtime: unknown): Readonly<Record<string, unknown>> {
    const { devices } = loadProviders(process.env);
    return new MachineFingerprint({ customNodes: this.customNodes, devices }).document(runtime);
  }

  /** The host goes on when the agent took frames in. */
  private took(frames: number): void {
    this.taken += frames;
    for (; this.taken >= FLOW_GRANT; this.taken -= FLOW_GRANT) this.host?.handle({ type: 'resume' });
  }

  private async end(): Promise<void> {
    this.ending = true;
    await this.pipe.drained();
    const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS));
    await Promise.race([this.host?.close().catch(() => undefined), late]);
    this.world.over();
  }
}
