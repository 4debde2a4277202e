import type { ArtifactPayload, MetricPoint, WarningPayload } from '@cdui/protocol';
import type { NodeEvent, RunSinks } from '../sinks';

/** Keeps what a run reports in memory. With a high-water mark it says stop every so many reports, until `drain` is called. */
export class CollectingSinks implements RunSinks {
  starts = 0;
  readonly events: NodeEvent[] = [];
  readonly points: MetricPoint[] = [];
  readonly artifacts: ArtifactPayload[] = [];
  readonly warnings: WarningPayload[] = [];
  readonly times: number[] = [];
  text = '';
  private pending = 0;
  private waiting: (() => void)[] = [];

  constructor(private readonly highWater = Infinity) {}

  /** `node:status` in the order reported; inner nodes as `container>inner:status`. */
  get trail(): readonly string[] {
    return this.events.map(({ type, payload }) =>
      type === 'node_status'
        ? `${payload.node_id}:${payload.status}`
        : `${payload.node_id}>${payload.inner_id}:${payload.status}`,
    );
  }

  /** How many reports came since the last drain. */
  get undrained(): number {
    return this.pending;
  }

  started(): boolean {
    this.starts += 1;
    return this.below();
  }
  emit(event: NodeEvent, atMs: number): boolean {
    this.events.push(event);
    this.times.push(atMs);
    return this.below();
  }
  recordMetrics(points: readonly MetricPoint[], atMs: number): boolean {
    this.points.push(...points);
    this.times.push(atMs);
    return this.below();
  }
  recordArtifact(artifact: ArtifactPayload, atMs: number): boolean {
    this.artifacts.push(artifact);
    this.times.push(atMs);
    return this.below();
  }
  warn(warning: WarningPayload, atMs: number): boolean {
    this.warnings.push(warning);
    this.times.push(atMs);
    return this.below();
  }
  console(text: string): boolean {
    this.text += text;
    return this.below();
  }

  drained(): Promise<void> {
    if (this.pending < this.highWater) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Takes everything in, so that reports may go on. */
  drain(): void {
    this.pending = 0;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private below(): boolean {
    this.pending += 1;
    return this.pending < this.highWater;
  }
}
