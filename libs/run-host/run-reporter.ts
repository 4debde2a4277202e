import type { EngineObserver, NodeOrigin, StatusReport } from '@cdui/engine';
import { artifactPayload, capPayload, inferredMetrics, MetricBatcher, metricPoint, nodeEvent } from '@cdui/execution';
import type { MetricPoint, NodeStatus, RunHostMessage, WarningPayload } from '@cdui/protocol';
import { FLOW_GRANT, FLOW_HIGH_WATER, FLOW_LIMIT } from './client/flow';

export interface RunReporterOptions {
  readonly runId: string;
  readonly post: (message: RunHostMessage) => void;
  /** Milliseconds since the run's start. */
  readonly elapsed: () => number;
  readonly payloadCapBytes: number;
  /** Takes console text at once, in the place of messages. */
  readonly print?: (text: string) => void;
  readonly high?: number;
  readonly limit?: number;
}

const ENDS: ReadonlySet<NodeStatus> = new Set(['completed', 'cached', 'skipped', 'error', 'interrupted']);
/** Text for the console is gathered up to this size, or until something else is reported or the thread is idle. */
const CONSOLE_CHUNK = 16 * 1024;

/** Turns the engine's reports about one run into messages: events capped, metrics and console text in batches. */
export class RunReporter implements EngineObserver {
  private readonly batcher = new MetricBatcher();
  private readonly recording = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private text = '';
  private textScheduled = false;
  /** Messages that the reader has not said it took in. */
  private outstanding = 0;
  private dropped = 0;
  private waiting: (() => void)[] = [];

  constructor(private readonly options: RunReporterOptions) {}

  status(report: StatusReport): boolean {
    this.flushText();
    if (report.status === 'progress' && this.full) return this.drop();
    if (ENDS.has(report.status)) this.endOf(report);
    const { type, payload } = nodeEvent(report);
    // The cap keeps the payload's shape, or what identifies it.
    const event = { type, payload: capPayload(payload, this.options.payloadCapBytes) } as ReturnType<typeof nodeEvent>;
    return this.post({ type: 'event', run_id: this.options.runId, at_ms: this.options.elapsed(), event });
  }

  metric(origin: NodeOrigin, name: string, value: number, step: number): boolean {
    this.recording.add(origin.nodeId);
    return this.addPoint(metricPoint(origin.nodeId, name, value, step));
  }

  artifact(origin: NodeOrigin, kind: string, path: string, meta: Readonly<Record<string, unknown>>): boolean {
    const artifact = capPayload(artifactPayload(origin.nodeId, kind, path, meta), this.options.payloadCapBytes);
    return this.post({ type: 'artifact', run_id: this.options.runId, at_ms: this.options.elapsed(), artifact });
  }

  warning(warning: WarningPayload): boolean {
    const capped = capPayload(warning, this.options.payloadCapBytes);
    return this.post({ type: 'warning', run_id: this.options.runId, at_ms: this.options.elapsed(), warning: capped });
  }

  console(text: string): boolean {
    if (this.options.print) {
      this.options.print(text);
      return this.below;
    }
    if (this.full) return this.drop();
    this.text += text;
    if (this.text.length >= CONSOLE_CHUNK) this.flushText();
    else this.scheduleText();
    return this.below;
  }

  drained(): Promise<void> {
    return this.below ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
  }

  /** The reader took in another `FLOW_GRANT` messages. */
  resume(): void {
    this.outstanding = Math.max(0, this.outstanding - FLOW_GRANT);
    if (!this.below) return;
    this.reportDropped();
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Sends what is gathered; nothing is reported afterwards. */
  close(): void {
    this.flushText();
    this.flushMetrics();
    this.reportDropped();
    clearTimeout(this.timer);
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private get below(): boolean {
    return this.outstanding < (this.options.high ?? FLOW_HIGH_WATER);
  }

  private get full(): boolean {
    return this.outstanding >= (this.options.limit ?? FLOW_LIMIT);
  }

  private endOf({ origin, status, ports }: StatusReport): void {
    const computed = origin.innerId === null && (status === 'completed' || status === 'cached');
    if (computed) {
      const own = (ports ?? []).filter(({ port }) => !port.startsWith('__'));
      for (const point of inferredMetrics(origin.nodeId, own, this.recording.has(origin.nodeId))) this.addPoint(point);
    }
    // A node's points come before its end.
    this.flushMetrics();
  }

  private addPoint(point: MetricPoint): boolean {
    if (this.full) return this.drop();
    const batch = this.batcher.add(point, this.options.elapsed());
    if (batch) this.postMetrics(batch);
    else this.timer ??= setTimeout(() => this.metricsDue(), this.untilDue());
    return this.below;
  }

  private metricsDue(): void {
    this.timer = undefined;
    const batch = this.batcher.due(this.options.elapsed());
    if (batch) this.postMetrics(batch);
    else if (this.batcher.dueAt !== null) this.timer = setTimeout(() => this.metricsDue(), this.untilDue());
  }

  private untilDue(): number {
    const at = this.batcher.dueAt ?? 0;
    // Timers fire up to a millisecond early.
    return Math.max(1, Math.ceil(at - this.options.elapsed()));
  }

  private flushMetrics(): void {
    const batch = this.batcher.take();
    if (batch) this.postMetrics(batch);
  }

  private postMetrics(points: readonly MetricPoint[]): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.post({ type: 'metrics', run_id: this.options.runId, at_ms: this.options.elapsed(), points });
  }

  private scheduleText(): void {
    if (this.textScheduled) return;
    this.textScheduled = true;
    setImmediate(() => {
      this.textScheduled = false;
      this.flushText();
    });
  }

  private flushText(): void {
    if (this.text === '') return;
    const { text } = this;
    this.text = '';
    this.post({ type: 'console', run_id: this.options.runId, text });
  }

  private drop(): boolean {
    this.dropped += 1;
    return false;
  }

  private reportDropped(): void {
    if (this.dropped === 0) return;
    const count = this.dropped;
    this.dropped = 0;
    const detail = `${count} progress frames, metrics or console texts came faster than they could be taken in, and are left out`;
    this.warning({ kind: 'dropped_signals', code: 'dropped_signals', detail, count, params: { count } });
  }

  private post(message: RunHostMessage): boolean {
    this.outstanding += 1;
    this.options.post(message);
    return this.below;
  }
}
