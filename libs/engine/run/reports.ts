import type { WarningPayload } from '@cdui/protocol';
import type { EngineObserver, NodeOrigin, StatusReport } from '../observer';
import type { Plan } from '../plan-types';
import { StatusReporter } from './containers';
import type { Redactor } from './redaction';

/** Everything a run reports passes here: secrets are taken out, containers follow their nodes, and the high-water mark is remembered. */
export class Reports {
  private readonly statuses: StatusReporter;
  private below = true;

  constructor(
    plan: Plan,
    private readonly observer: EngineObserver,
    private readonly redactor: Redactor,
  ) {
    this.statuses = new StatusReporter(plan, observer);
  }

  status(report: StatusReport): void {
    this.note(this.statuses.report(this.redactedStatus(report)));
  }

  /** A later report about a node that ended already: containers do not follow it. */
  addendum(report: StatusReport): void {
    this.note(this.observer.status(this.redactedStatus(report)));
  }

  metric(origin: NodeOrigin, name: string, value: number, step: number): void {
    this.note(this.observer.metric(origin, this.redactor.text(name), value, step));
  }

  artifact(origin: NodeOrigin, kind: string, path: string, meta: Readonly<Record<string, unknown>>): void {
    const { redactor } = this;
    this.note(this.observer.artifact(origin, redactor.text(kind), redactor.text(path), redactor.data(meta)));
  }

  warning(warning: WarningPayload): void {
    this.note(this.observer.warning(this.redactor.data(warning)));
  }

  console(text: string): void {
    this.note(this.observer.console(this.redactor.text(text)));
  }

  /** Waits for the observer if a report went above its high-water mark; at once otherwise. */
  async drained(): Promise<void> {
    if (this.below) return;
    await this.observer.drained();
    this.below = true;
  }

  // Statuses, ids and kinds are the program's own words; only what nodes say is redacted, the codes of their errors too.
  private redactedStatus(report: StatusReport): StatusReport {
    const { redactor } = this;
    if (!redactor.active) return report;
    const { error, errorType, trace, outputs, ports } = report;
    return {
      ...report,
      ...(error !== undefined && { error: redactor.text(error) }),
      ...(errorType !== undefined && { errorType: redactor.text(errorType) }),
      ...(trace !== undefined && { trace: redactor.text(trace) }),
      ...(outputs && { outputs: outputs.map((entry) => redactor.entry(entry)) }),
      ...(ports && { ports: ports.map((facts) => redactor.facts(facts)) }),
    };
  }

  private note(below: boolean): void {
    this.below &&= below;
  }
}
