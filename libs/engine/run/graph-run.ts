import type { NodeInputs, NodeType } from '@cdui/node-sdk';
import { CodedError } from '@cdui/protocol';
import type { PortFacts } from '@cdui/protocol';
import type { Scope } from '@cdui/tensor/runtime';
import type { PlannedNode } from '../plan-types';
import { CacheKeys } from './cache-keys';
import type { CachedResult } from './execution-cache';
import type { Failure } from './failure';
import { failureOf, isStop, OUT_OF_MEMORY, runError } from './failure';
import { fillParams } from './fill-params';
import { GradientCapture } from './gradients';
import { encodeOutput } from './graph-outputs';
import type { Execution, ExecutionTask } from './node-execution';
import { executeOnce } from './node-execution';
import { PresetRunner } from './preset-runner';
import { producersOf, ProgressBoard } from './progress-board';
import { Redactor, secretsOf } from './redaction';
import { Reports } from './reports';
import type { RunPlanRequest, RunPlanResult } from './request';
import { DEFAULT_MAX_PARALLEL } from './request';
import { ResultStore } from './result-store';
import type { RunEnvironment } from './run-environment';
import { openNodeScope } from './run-environment';
import { RunWeights } from './run-weights';
import { deriveSeed } from './seeds';
import { StopFlag } from './stop-flag';
import { ValueReader } from './value-facts';

const UPSTREAM_FAILED = 'upstream node failed';
/** Times the number of the attempt that failed. */
const RETRY_WAIT_MS = 500;

/** One run of a plan, from its first node to its result. Use it once. */
export class GraphRun {
  private readonly environment: RunEnvironment;
  private readonly redactor: Redactor;
  private readonly stop: StopFlag;
  private readonly board: ProgressBoard;
  private readonly results: ResultStore;
  private readonly weights: RunWeights | null;
  private readonly gradients: GradientCapture | null;
  private readonly keys: CacheKeys | null;
  private readonly reader = new ValueReader();
  private readonly changed: ReadonlySet<string>;
  private readonly failures: { readonly node: PlannedNode; readonly failure: Failure }[] = [];
  private readonly skipped: PlannedNode[] = [];
  private readonly graphOutputs = new Map<string, unknown>();
  private readonly finalOutputs = new Map<string, readonly PortFacts[]>();
  private readonly hasContract: boolean;
  /** Whether a failure ended the run before anybody asked to stop it. */
  private failedFirst = false;
  /** Whether a node returned knowing that the run should stop. */
  private leftEarly = false;

  constructor(private readonly request: RunPlanRequest) {
    const { plan, registry, options, cache, folders } = request;
    const recordGradients =
      options.backward_mode === true || plan.nodes.some(({ type }) => registry.get(type)?.startsBackward);
    const device = options.device ?? request.runtime.facts.device;
    const deterministic = options.deterministic === true;
    this.redactor = new Redactor(secretsOf(plan, registry, request.presets));
    this.stop = new StopFlag(request.signal, request.stopRequested);
    this.board = new ProgressBoard(plan);
    // A cached result has no record to differentiate, so a run that records gradients computes everything.
    this.keys =
      cache && !recordGradients
        ? new CacheKeys({ device, deterministic, folders, registry, presets: request.presets })
        : null;
    this.changed = new Set(options.changed_nodes);
    this.hasContract = plan.nodes.some(isGraphOutput);
    const presets = new PresetRunner();
    this.environment = {
      runId: request.runId,
      runtime: request.runtime,
      registry,
      presets: request.presets,
      folders,
      device,
      seed: options.seed ?? null,
      deterministic,
      verbose: options.verbose === true,
      recordGradients,
      recordsArtifacts: request.asFunction !== true,
      stop: this.stop,
      reports: new Reports(plan, request.observer, this.redactor),
      recorder: request.recorder ?? null,
      runPreset: (call) => presets.call(call, this.environment),
    };
    this.results = new ResultStore(recordGradients);
    const weights = new RunWeights(request.modules ?? null);
    this.weights = recordGradients || request.modules ? weights : null;
    this.gradients = recordGradients ? new GradientCapture(this.environment, plan, weights) : null;
  }

  async run(): Promise<RunPlanResult> {
    const running = new Set<Promise<void>>();
    while (true) {
      await this.environment.reports.drained();
      const node = running.size < this.limit && !this.stopping ? this.board.next() : null;
      if (node) {
        const execution = this.execute(node).finally(() => running.delete(execution));
        running.add(execution);
      } else if (running.size > 0) {
        await Promise.race(running);
      } else {
        break;
      }
    }
    if (this.gradients && this.complete) await this.differentiate(this.gradients);
    return this.result();
  }

  close(): void {
    this.stop.close();
    this.weights?.close();
    this.results.clear();
  }

  private get limit(): number {
    return this.environment.seed !== null ? 1 : Math.max(1, this.request.maxParallel ?? DEFAULT_MAX_PARALLEL);
  }

  private get failFast(): boolean {
    return (this.request.options.error_mode ?? 'fail_fast') === 'fail_fast';
  }

  /** Whether nothing new may start. */
  private get stopping(): boolean {
    return this.stop.requested || this.board.count('stopped') > 0;
  }

  /** Whether every node ended well: a part of a forward pass has no gradients worth the name. */
  private get complete(): boolean {
    return this.failures.length === 0 && !this.unfinished;
  }

  /** Whether some nodes never got their turn, or returned before they were through. */
  private get unfinished(): boolean {
    return this.leftEarly || this.board.count('waiting') > 0 || this.board.count('stopped') > 0;
  }

  private async execute(node: PlannedNode): Promise<void> {
    const { reports } = this.environment;
    let key: string | null = null;
    try {
      const type = this.typeOf(node);
      const params = fillParams(type, node.params);
      const seed = this.environment.seed === null ? null : deriveSeed(this.environment.seed, node.id);
      key = (await this.keys?.keyOf(node, type, params, seed)) ?? null;
      const cached = key === null ? null : this.cached(node, key);
      if (cached) {
        await this.useCached(node, cached);
        return;
      }
      reports.status({ origin: node.origin, status: 'running' });
      await this.attempts({ node, type, params, inputs: this.inputsOf(node) }, key);
    } catch (error) {
      await this.fail(node, error, key);
    } finally {
      for (const producer of producersOf(node)) this.results.read(producer);
    }
  }

  private typeOf(node: PlannedNode): NodeType {
    const type = this.request.registry.get(node.type);
    if (type) return type;
    throw new CodedError('unknown_node_type', `There is no node type "${node.type}"`, { type: node.type });
  }

  private inputsOf(node: PlannedNode): NodeInputs {
    const inputs: Record<string, NodeInputs[string]> = {};
    for (const [port, source] of Object.entries(node.inputs)) {
      const value = this.results.get(source.node, source.port);
      if (value !== undefined) inputs[port] = value;
    }
    return inputs;
  }

  private cached(node: PlannedNode, key: string): CachedResult | null {
    const forced = this.environment.verbose || this.changed.has(node.id) || this.changed.has(node.origin.nodeId);
    return forced ? null : (this.request.cache?.get(key) ?? null);
  }

  private async useCached(node: PlannedNode, cached: CachedResult): Promise<void> {
    const scope = openNodeScope(this.environment, node.id);
    try {
      this.keepResult(node, cached.outputs, cached.ports, scope);
      if (this.environment.recorder) await this.record(node, cached.ports, cached.outputs, scope);
    } finally {
      scope.close();
    }
    this.environment.reports.status({
      origin: node.origin,
      status: 'cached',
      ports: cached.ports,
      ...(cached.shown.length > 0 && { outputs: cached.shown }),
    });
    this.board.done(node);
  }

  private async attempts(task: ExecutionTask, key: string | null): Promise<void> {
    const { error_mode: mode, max_retries: retries } = this.request.options;
    const extra = mode === 'retry' ? (retries ?? 0) : 0;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.attempt(task, key);
        return;
      } catch (error) {
        if (attempt > extra || this.stop.requested || failureOf(error).type === OUT_OF_MEMORY) throw error;
        this.environment.reports.console(`${task.node.id}: attempt ${attempt} failed: ${failureOf(error).message}\n`);
        await this.request.sleep(RETRY_WAIT_MS * attempt, this.stop.signal);
        if (this.stop.requested) throw error;
      }
    }
  }

  private async attempt(task: ExecutionTask, key: string | null): Promise<void> {
    const { node } = task;
    const { environment, reader, weights } = this;
    const execution = await executeOnce(environment, task, { reader, weights }, async (execution, scope) => {
      if (isGraphOutput(node)) await this.answer(task, scope);
      const { result, shown, ports, traced } = execution;
      this.keepResult(node, result.outputs, ports, scope);
      // A node that was asked to stop may have left early: what it gave is no result for another run.
      if (key !== null && !result.interrupted && !this.stop.requested)
        this.request.cache?.put(key, { outputs: result.outputs, shown, ports }, scope);
      if (environment.recorder) await this.record(node, ports, { ...result.outputs, ...traced }, scope);
      return execution;
    });
    this.reportEnd(node, execution);
    this.leftEarly ||= execution.leftEarly;
    if (execution.result.interrupted) this.board.stopped(node);
    else this.board.done(node);
  }

  private reportEnd(node: PlannedNode, { result, shown, ports }: Execution): void {
    this.environment.reports.status({
      origin: node.origin,
      status: result.interrupted ? 'interrupted' : 'completed',
      ports,
      ...(shown.length > 0 && { outputs: shown }),
    });
  }

  private record(node: PlannedNode, ports: readonly PortFacts[], values: CachedResult['outputs'], scope: Scope) {
    const captured = ports.map((facts) => ({ facts: this.redactor.facts(facts), value: values[facts.port] }));
    return this.environment.recorder?.record(node.id, captured, scope);
  }

  private keepResult(
    node: PlannedNode,
    outputs: CachedResult['outputs'],
    ports: readonly PortFacts[],
    scope: Scope,
  ): void {
    const readers = this.board.readers(node.id);
    this.results.put(node.id, outputs, readers, scope);
    if (readers === 0)
      this.finalOutputs.set(
        node.id,
        ports.filter(({ port }) => !port.startsWith('__')),
      );
  }

  /** A GraphOutput's value as the answer has it. Outside of a function call a value without a JSON form is only left out. */
  private async answer({ node, params, inputs }: ExecutionTask, scope: Scope): Promise<void> {
    const name = String(params['name'] ?? node.id);
    try {
      this.graphOutputs.set(name, this.redactor.data(await encodeOutput(scope, name, inputs['value'] ?? null)));
    } catch (error) {
      if (this.request.asFunction || !(error instanceof CodedError)) throw error;
      const { code, message, params: values } = error;
      this.environment.reports.warning({ kind: code, detail: message, code, params: { ...values, node_id: node.id } });
    }
  }

  private async fail(node: PlannedNode, error: unknown, key: string | null): Promise<void> {
    const { reports } = this.environment;
    if (isStop(error, this.stop.signal)) {
      this.board.stopped(node);
      reports.status({ origin: node.origin, status: 'interrupted' });
      return;
    }
    const failure = failureOf(error);
    if (failure.type === OUT_OF_MEMORY) await this.giveMemoryBack(key);
    this.failures.push({ node, failure });
    reports.status({
      origin: node.origin,
      status: 'error',
      error: failure.message,
      errorType: failure.type,
      ...(this.request.debug && failure.trace !== undefined && { trace: failure.trace }),
    });
    if (this.failFast) {
      this.failedFirst ||= this.stop.outerReason === null;
      this.board.stopped(node);
      this.stop.abortForFailure();
      return;
    }
    for (const skipped of this.board.failed(node)) {
      this.skipped.push(skipped);
      reports.status({ origin: skipped.origin, status: 'skipped', error: UPSTREAM_FAILED });
      for (const producer of producersOf(skipped)) this.results.read(producer);
    }
  }

  private async giveMemoryBack(key: string | null): Promise<void> {
    if (key !== null) this.request.cache?.drop(key);
    // The allocation's own failure is what gets reported; this one only could not help.
    await this.request.runtime.releaseCache().catch(() => undefined);
  }

  private async differentiate(gradients: GradientCapture): Promise<void> {
    const { backward_mode: mode, auto_backward: auto } = this.request.options;
    try {
      await gradients.backward(this.results, { auto: mode === true && auto === true });
    } catch (error) {
      const [node] = this.request.plan.nodes.filter(({ type }) => this.request.registry.get(type)?.startsBackward);
      const culprit = node ?? this.request.plan.nodes.at(-1);
      if (!culprit || isStop(error, this.stop.signal)) return;
      const failure = failureOf(error);
      this.failures.push({ node: culprit, failure });
      this.environment.reports.addendum({
        origin: culprit.origin,
        status: 'error',
        error: failure.message,
        errorType: failure.type,
      });
    }
  }

  private result(): RunPlanResult {
    return {
      ...this.ending(),
      failedNodes: fileIds(this.failures.map(({ node }) => node)),
      skippedNodes: fileIds(
        this.skipped,
        this.failures.map(({ node }) => node),
      ),
      graphOutputs: this.hasContract ? Object.fromEntries(this.graphOutputs) : null,
      finalOutputs: this.request.plan.nodes.flatMap(({ id }) =>
        (this.finalOutputs.get(id) ?? []).map((facts) => ({ nodeId: id, facts: this.redactor.facts(facts) })),
      ),
    };
  }

  private ending(): Pick<RunPlanResult, 'status' | 'error' | 'reason'> {
    const outer = this.stop.outerReason;
    const stoppedByNode = this.failures.length === 0 && this.board.count('stopped') > 0;
    if ((outer !== null && this.unfinished && !this.failedFirst) || stoppedByNode) {
      const status = outer === 'shutdown' || outer === 'lost' || outer === null ? 'interrupted' : 'cancelled';
      return { status, error: null, reason: { code: status, params: { reason: outer ?? 'node' } } };
    }
    const [first] = this.failures;
    if (!first) return { status: 'succeeded', error: null, reason: null };
    const error = this.redactor.text(runError(first.node, first.failure));
    const params = { node_id: first.node.origin.nodeId, error_type: this.redactor.text(first.failure.type) };
    if (this.failFast) return { status: 'failed', error, reason: { code: 'node_failed', params } };
    const failed = this.failures.length;
    const count = `${failed} of ${this.request.plan.nodes.length} nodes failed`;
    return {
      status: 'failed',
      error: `${count}${failed > 1 ? ', first' : ''}: ${error}`,
      reason: { code: 'nodes_failed', params: { ...params, failed, skipped: this.skipped.length } },
    };
  }
}

function isGraphOutput(node: PlannedNode): boolean {
  // Inside a block it is no part of the graph's contract.
  return node.type === 'GraphOutput' && node.origin.innerId === null;
}

/** File ids of nodes, each once, without those of `others`. */
function fileIds(nodes: readonly PlannedNode[], others: readonly PlannedNode[] = []): readonly string[] {
  const left = new Set(nodes.map((node) => node.origin.nodeId));
  for (const other of others) left.delete(other.origin.nodeId);
  return [...left];
}
