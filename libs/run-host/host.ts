import { join } from 'node:path';
import type { RunPlanResult } from '@cdui/engine';
import { DEFAULT_MODULE_LIMITS, ExecutionCache, ModuleStore, planGraph, Redactor, runPlan } from '@cdui/engine';
import { summaryOf } from '@cdui/execution';
import type { NodeRegistry, PresetRegistry } from '@cdui/node-sdk';
import type { RunHostAnswer, RunHostCommand, RunHostMessage, RunOptions, RunOutcome, StopReason } from '@cdui/protocol';
import { OUTPUTS_FOLDER } from '@cdui/outputs';
import type { MemoryFacts, TensorRuntime } from '@cdui/tensor/runtime';
import type { CatalogueFolders } from './catalogue';
import { RunRecording } from './recording/run-recording';
import { RunReporter } from './run-reporter';
import { secretsIn } from './secrets';
import type { HostSettings } from './settings';

type StartCommand = Extract<RunHostCommand, { type: 'start' }>;

/** What a host is given by the thread or process that it lives in. */
export interface RunHostWorld {
  readonly post: (message: RunHostMessage | RunHostAnswer) => void;
  /**
   * Takes console text, without secrets, at once; without it the text becomes messages, which a thread that ends or never yields again still
   * holds.
   */
  readonly print?: (text: string) => void;
  readonly settings: HostSettings;
  readonly catalogue: (folders: CatalogueFolders) => {
    readonly registry: NodeRegistry;
    readonly presets: PresetRegistry;
  };
  /** Called once, by the first run. */
  readonly openRuntime: (device: string, options: RunOptions) => Promise<TensorRuntime>;
  /** The request to stop, where it reaches a thread that never yields. */
  readonly stopRequested: () => StopReason | null;
  /** Milliseconds on a clock that only runs forward. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Whether results are kept from run to run. */
  readonly session: boolean;
}

interface CurrentRun {
  readonly id: string;
  readonly begun: number;
  readonly stop: AbortController;
  readonly reporter: RunReporter;
  readonly redactor: Redactor;
  recording: RunRecording | null;
}

/** The one place where engine, nodes and runtime meet: commands in, messages out, one run at a time. */
export class RunHost {
  private readonly cache: ExecutionCache | null;
  private readonly modules: ModuleStore | null;
  private runtime: TensorRuntime | null = null;
  private opening: Promise<TensorRuntime> | null = null;
  private current: CurrentRun | null = null;
  private idle: Promise<void> = Promise.resolve();

  constructor(private readonly world: RunHostWorld) {
    const { session, settings } = world;
    this.cache = session ? new ExecutionCache({ entries: 256, bytes: settings.cacheBytes }) : null;
    this.modules = session ? new ModuleStore({ ...DEFAULT_MODULE_LIMITS, bytes: settings.nodeStateBytes }) : null;
  }

  /** Never throws; a command that makes no sense now is answered or ignored. */
  handle(command: Exclude<RunHostCommand, { type: 'close' }>): void {
    switch (command.type) {
      case 'start':
        this.start(command);
        return;
      case 'cancel':
        if (this.current?.id === command.run_id) this.current.stop.abort(command.reason);
        return;
      case 'resume':
        this.current?.reporter.resume();
        return;
      case 'clear_cache':
        void this.idle.then(() => this.cache?.clear());
        return;
      case 'reset_weights': {
        const evicted = this.modules?.reset(command.graph_id, command.node_ids) ?? 0;
        this.world.post({ type: 'weights_reset', request_id: command.request_id, evicted });
        return;
      }
      case 'list_weights': {
        const kept = this.modules?.list() ?? [];
        const weights = kept.map(({ graphId, nodeId }) => ({ graph_id: graphId, node_id: nodeId }));
        this.world.post({ type: 'weights', request_id: command.request_id, weights });
        return;
      }
    }
  }

  /** Opens the runtime ahead of the first run. What goes wrong is told to that run, which tries again. */
  async warmUp(device: string): Promise<void> {
    await this.open(device, {});
  }

  /** Waits for the run, then ends the runtime. */
  async close(): Promise<void> {
    await this.idle;
    await this.opening?.catch(() => undefined);
    this.cache?.clear();
    this.modules?.clear();
    await this.runtime?.close();
    this.runtime = null;
    this.opening = null;
  }

  /** Text that node code wrote to a standard stream. */
  console(text: string): void {
    const { current } = this;
    if (current) current.reporter.console(current.redactor.text(text));
  }

  /** An error that no node's execution caught: whatever runs now cannot be trusted any more. */
  defect(error: unknown): void {
    const { current } = this;
    if (!current) return;
    const text = current.redactor.text(error instanceof Error ? error.message : String(error));
    const type = error instanceof Error ? error.name : 'Error';
    current.stop.abort('user');
    current.recording?.abandon();
    // What still runs may never end; nobody waits for it.
    this.idle = Promise.resolve();
    this.finish(current, {
      ...refusal(`Node code failed outside of its execution: ${text}`, 'uncaught_error', { error_type: type }),
      seconds: this.seconds(current),
    });
  }

  private start(command: StartCommand): void {
    if (this.current) {
      const outcome = refusal('This host runs another graph already', 'run_host_busy', { run_id: this.current.id });
      this.world.post({ type: 'run_finished', run_id: command.run_id, outcome });
      return;
    }
    const begun = this.world.now();
    const { post, print, settings } = this.world;
    const elapsed = (): number => Math.round(this.world.now() - begun);
    const options = {
      runId: command.run_id,
      post,
      elapsed,
      payloadCapBytes: settings.payloadCapBytes,
      ...(print && { print }),
    };
    const { presets } = settings;
    const { folders } = command;
    const catalogue = this.world.catalogue({
      customNodes: folders.customNodes,
      presets: presets ?? `${folders.data}/presets`,
    });
    const current: CurrentRun = {
      id: command.run_id,
      begun,
      stop: new AbortController(),
      reporter: new RunReporter(options),
      redactor: new Redactor(secretsIn(command.graph, catalogue)),
      recording: null,
    };
    this.current = current;
    this.idle = this.run(command, current, catalogue).then(
      (outcome) => this.finish(current, outcome),
      (error: unknown) => this.defect(error),
    );
  }

  private finish(current: CurrentRun, outcome: RunOutcome): void {
    if (this.current !== current) return;
    current.reporter.close();
    this.current = null;
    this.world.post({ type: 'run_finished', run_id: current.id, outcome });
  }

  private async run(
    command: StartCommand,
    current: CurrentRun,
    { registry, presets }: { readonly registry: NodeRegistry; readonly presets: PresetRegistry },
  ): Promise<RunOutcome> {
    const { graph, folders, inputs } = command;
    const options = { ...command.options, device: deviceOf(command) };
    const planned = planGraph(graph, { registry, presets, ...(inputs && { inputs }) });
    if ('issues' in planned) {
      const issues = current.redactor.data(planned.issues);
      const error = issues.map(({ message }) => message).join('; ');
      return { ...refusal(error, 'invalid_graph', { issues }), seconds: this.seconds(current) };
    }
    const opened = await this.open(options.device, options);
    if ('refused' in opened) return { ...opened.refused, seconds: this.seconds(current) };
    const { runtime } = opened;
    this.world.post({ type: 'run_started', run_id: command.run_id });
    this.world.post({ type: 'run_facts', run_id: command.run_id, facts: runtimeFacts(runtime) });
    if (options.weights_persistent && !this.modules) warnOfIgnored('weights_persistent', current.reporter);
    current.recording = options.record_outputs ? this.recordingOf(command, current, runtime) : null;
    runtime.resetPeak();
    const result = await runPlan({
      runId: command.run_id,
      plan: planned.plan,
      registry,
      presets,
      runtime,
      observer: current.reporter,
      options,
      folders,
      signal: current.stop.signal,
      stopRequested: this.world.stopRequested,
      asFunction: inputs !== undefined,
      maxParallel: this.world.settings.maxParallel,
      debug: this.world.settings.debug,
      sleep: this.world.sleep,
      ...(this.cache && { cache: this.cache }),
      ...(this.modules &&
        options.weights_persistent && { modules: { store: this.modules, graphId: options.graph_id ?? '' } }),
      ...(current.recording && { recorder: current.recording }),
    });
    await current.recording?.finish();
    // The runtime may be what the run failed of.
    const memory = await runtime.memory().catch(() => null);
    return outcomeOf(result, memory, this.seconds(current));
  }

  private recordingOf({ run_id: runId, folders }: StartCommand, current: CurrentRun, runtime: TensorRuntime) {
    const { reporter, redactor } = current;
    return new RunRecording({
      root: join(folders.data, OUTPUTS_FOLDER),
      runId,
      runtime,
      redactor,
      maxBytes: this.world.settings.outputStoreBytes,
      warn: (warning) => reporter.warning(redactor.data(warning)),
    });
  }

  private async open(
    device: string,
    options: RunOptions,
  ): Promise<{ readonly runtime: TensorRuntime } | { readonly refused: RunOutcome }> {
    try {
      this.opening ??= this.world.openRuntime(device, options);
      this.runtime = await this.opening;
    } catch (error) {
      this.opening = null;
      const { message, code } = error as Error & { readonly code?: string };
      return { refused: refusal(message, code ?? 'runtime_start_failed', { device }) };
    }
    if (this.runtime.facts.device === device) return { runtime: this.runtime };
    const used = this.runtime.facts.device;
    const message = `This session computes on ${used}; a run on ${device} needs a session of its own`;
    return { refused: refusal(message, 'device_not_available', { device, used }) };
  }

  private seconds({ begun }: CurrentRun): number {
    return (this.world.now() - begun) / 1000;
  }
}

/** `options.device`, else the graph's, else the processor; `auto` means the processor. */
function deviceOf({ options, graph }: StartCommand): string {
  const device = (options.device ?? graph.settings?.device ?? 'cpu').toLowerCase();
  return device === 'auto' ? 'cpu' : device;
}

function runtimeFacts({ facts }: TensorRuntime): Readonly<Record<string, unknown>> {
  const { kind, version, device, deviceName, threads, numerics } = facts;
  return { runtime: { kind, version, device, device_name: deviceName, threads, numerics } };
}

/** An option that has an effect in a canvas session only says so. */
function warnOfIgnored(option: keyof RunOptions, reporter: RunReporter): void {
  const code = 'option_not_available';
  const detail = `The option ${option} works in a canvas session only: the run goes on without it`;
  reporter.warning({ kind: code, code, detail, params: { option } });
}

function outcomeOf(result: RunPlanResult, memory: MemoryFacts | null, seconds: number): RunOutcome {
  return {
    status: result.status,
    error: result.error,
    reason: result.reason,
    failed_nodes: result.failedNodes,
    skipped_nodes: result.skippedNodes,
    peak_memory: memory ? [{ device: memory.device, bytes: memory.peak, exact: memory.exact }] : [],
    ...(result.graphOutputs && { graph_outputs: result.graphOutputs }),
    final_outputs: result.finalOutputs.map(({ nodeId, facts }) => ({
      node_id: nodeId,
      port: facts.port,
      summary: summaryOf(facts),
    })),
    seconds,
  };
}

function refusal(error: string, code: string, params: Readonly<Record<string, unknown>>): RunOutcome {
  const none = { failed_nodes: [], skipped_nodes: [], peak_memory: [] };
  return { status: 'failed', error, reason: { code, params }, ...none, seconds: 0 };
}
