import type { NodeContext, NodeResult, PortValue, TraceStep, WeightStore } from '@cdui/node-sdk';
import type { OutputEntry, RunFolders, WarningPayload } from '@cdui/protocol';
import type { Handle, Scope, TensorRuntime } from '@cdui/tensor/runtime';
import type { NodeOrigin } from '../observer';
import type { PlannedNode } from '../plan-types';
import { ReportCheck } from './check-report';
import { hold, release } from './handles';
import type { RunEnvironment } from './run-environment';
import { deriveSeed } from './seeds';

/** Characters of a node's log after which its report carries no more; the console gets all of it. */
const REPORTED_LOG = 64 * 1024;

/** What a node may call; bound, so that it may also take them out of the context: `execute({ scope, log }, ...)`. */
const CALLS = [
  'seedFor',
  'log',
  'progress',
  'metric',
  'artifact',
  'warn',
  'output',
  'step',
  'drained',
  'runPreset',
] as const satisfies readonly (keyof NodeContext)[];

/** What one execution of a node may use, and what it left behind to be reported. */
export class ExecutionContext implements NodeContext {
  readonly shown: OutputEntry[] = [];
  readonly steps: TraceStep[] = [];
  private readonly borrowed: Handle[] = [];
  private readonly check: ReportCheck;
  private logged = '';
  /** Lines that only the console has. */
  private moreLines = 0;
  private told = false;
  private listens = false;

  constructor(
    protected readonly run: RunEnvironment,
    protected readonly node: Pick<PlannedNode, 'id' | 'origin'>,
    readonly scope: Scope,
    readonly weights: WeightStore | null,
  ) {
    this.check = new ReportCheck(node.id);
    for (const name of CALLS) {
      const call = this[name];
      Object.defineProperty(this, name, { value: call.bind(this), enumerable: true });
    }
  }

  get nodeId(): string {
    return this.node.id;
  }
  get runId(): string {
    return this.run.runId;
  }
  get runtime(): TensorRuntime {
    return this.run.runtime;
  }
  get device(): string {
    return this.run.device;
  }
  get seed(): number | null {
    return this.seedFor(this.node.id);
  }
  get deterministic(): boolean {
    return this.run.deterministic;
  }
  get verbose(): boolean {
    return this.run.verbose;
  }
  get recordGradients(): boolean {
    return this.run.recordGradients;
  }
  get folders(): RunFolders {
    return this.run.folders;
  }
  get cancelled(): boolean {
    const asked = this.run.stop.requested;
    this.told ||= asked;
    return asked;
  }
  get signal(): AbortSignal {
    this.listens = true;
    return this.run.stop.signal;
  }
  get recordsArtifacts(): boolean {
    return this.run.recordsArtifacts;
  }

  seedFor(label: string): number | null {
    return this.run.seed === null ? null : deriveSeed(this.run.seed, label);
  }

  log(said: string): void {
    const text = this.check.log(said);
    if (this.logged.length < REPORTED_LOG) this.logged += this.logged === '' ? text : `\n${text}`;
    else this.moreLines += text.split('\n').length;
    this.run.reports.console(`${text}\n`);
  }

  progress(frame: Readonly<Record<string, unknown>>): void {
    this.check.progress(frame);
    this.run.reports.status({
      origin: this.origin,
      status: 'progress',
      outputs: [{ output_kind: 'progress', progress: frame }],
    });
  }

  metric(name: string, value: number, step: number): void {
    this.check.metric(name, value, step);
    this.run.reports.metric(this.origin, name, value, step);
  }

  artifact(kind: string, path: string, meta: Readonly<Record<string, unknown>> = {}): void {
    this.check.artifact(kind, path, meta);
    if (this.run.recordsArtifacts) this.run.reports.artifact(this.origin, kind, path, meta);
  }

  warn(warning: WarningPayload): void {
    this.check.warn(warning);
    this.run.reports.warning(warning);
  }

  output(entry: OutputEntry): void {
    this.check.output(entry);
    this.shown.push(entry);
  }

  step(step: TraceStep): void {
    this.check.step(step);
    if (this.verbose) this.steps.push(step);
  }

  drained(): Promise<void> {
    return this.run.reports.drained();
  }

  runPreset(name: string, input: PortValue, index: number): Promise<PortValue> {
    const { node, scope, within } = this;
    const borrow = (handles: readonly Handle[]): void => this.borrow(handles);
    return this.run.runPreset({ caller: node, scope, name, within, input, index, borrow });
  }

  /** The presets that run as functions around this node. */
  protected get within(): readonly string[] {
    return [];
  }

  /** Whether the node knows that it should stop: what it returns then is what it had, not all there is. */
  get knowsOfStop(): boolean {
    return this.told || (this.listens && this.run.stop.requested);
  }

  /** Gives back what presets returned to this node; its outputs are held by then. */
  releaseBorrowed(): void {
    release(this.borrowed.splice(0));
  }

  /** What the node showed, its log first; at last where it stopped, if it stopped early. */
  entries({ interrupted }: NodeResult): readonly OutputEntry[] {
    const more = this.moreLines === 0 ? '' : `\n... ${this.moreLines} more lines: the run's log has them`;
    const log = { output_kind: 'text', text: `${this.logged}${more}` } as const;
    const shown = this.logged === '' ? this.shown : [log, ...this.shown];
    if (!interrupted) return shown;
    this.check.interrupted(interrupted);
    return [...shown, { output_kind: 'progress', progress: { event: 'interrupted', ...interrupted } }];
  }

  private get origin(): NodeOrigin {
    return this.node.origin;
  }

  private borrow(handles: readonly Handle[]): void {
    hold(handles, this.scope);
    this.borrowed.push(...handles);
  }
}

/** The context of a node inside a preset that a node runs as a function: it computes, logs and warns, and reports nothing else. */
export class QuietContext extends ExecutionContext {
  constructor(
    run: RunEnvironment,
    node: Pick<PlannedNode, 'id' | 'origin'>,
    scope: Scope,
    private readonly callers: readonly string[],
  ) {
    super(run, node, scope, null);
  }

  protected override get within(): readonly string[] {
    return this.callers;
  }
  override progress(): void {}
  override metric(): void {}
  override artifact(): void {}
  override step(): void {}
  override get verbose(): boolean {
    return false;
  }
  override get recordsArtifacts(): boolean {
    return false;
  }
}
