import type { WarningPayload } from '@cdui/protocol';
import type { EngineObserver, NodeOrigin, StatusReport } from '../../observer';

/** Remembers what the engine reports. `highWater` reports are accepted before it asks the engine to wait. */
export class RecordingObserver implements EngineObserver {
  readonly statuses: StatusReport[] = [];
  readonly metrics: { origin: NodeOrigin; name: string; value: number; step: number }[] = [];
  readonly artifacts: { kind: string; path: string; meta: Readonly<Record<string, unknown>> }[] = [];
  readonly warnings: WarningPayload[] = [];
  text = '';
  drains = 0;
  private pending = 0;

  constructor(private readonly highWater = Infinity) {}

  /** `node:status` in the order reported, inner nodes as `container>inner:status`. */
  get trail(): string[] {
    return this.statuses.map(({ origin, status }) =>
      origin.innerId === null ? `${origin.nodeId}:${status}` : `${origin.nodeId}>${origin.innerId}:${status}`,
    );
  }

  last(nodeId: string): StatusReport | undefined {
    return this.statuses.filter(({ origin }) => origin.nodeId === nodeId && origin.innerId === null).at(-1);
  }

  status(report: StatusReport): boolean {
    this.statuses.push(report);
    return this.count();
  }
  metric(origin: NodeOrigin, name: string, value: number, step: number): boolean {
    this.metrics.push({ origin, name, value, step });
    return this.count();
  }
  artifact(_origin: NodeOrigin, kind: string, path: string, meta: Readonly<Record<string, unknown>>): boolean {
    this.artifacts.push({ kind, path, meta });
    return this.count();
  }
  warning(warning: WarningPayload): boolean {
    this.warnings.push(warning);
    return this.count();
  }
  console(text: string): boolean {
    this.text += text;
    return this.count();
  }
  drained(): Promise<void> {
    this.drains += 1;
    this.pending = 0;
    return Promise.resolve();
  }

  private count(): boolean {
    this.pending += 1;
    return this.pending < this.highWater;
  }
}
