import type {
  ArtifactPayload,
  GraphIssue,
  MetricPoint,
  RunHostMessage,
  RunOutcome,
  WarningPayload,
} from '@cdui/protocol';
import type { FileFacts, RunView } from './view';

/** One JSON document at the end: what came out, for programs. Text of the run goes to `aside`. */
export class JsonView implements RunView {
  private facts: FileFacts | null = null;
  private issues: readonly GraphIssue[] = [];
  private warnings: readonly GraphIssue[] = [];
  private readonly runWarnings: WarningPayload[] = [];
  private readonly artifacts: ArtifactPayload[] = [];
  private readonly metrics = new Map<string, MetricPoint>();

  constructor(
    private readonly write: (text: string) => void,
    private readonly aside: (text: string) => void,
    private readonly validateOnly: boolean,
  ) {}

  checked(facts: FileFacts, issues: readonly GraphIssue[], warnings: readonly GraphIssue[]): void {
    this.facts = facts;
    this.issues = issues;
    this.warnings = warnings;
    if (issues.length > 0) this.document({ status: 'invalid', error: issues.map((issue) => issue.message).join('; ') });
    else if (this.validateOnly) this.document({ status: 'valid', error: null });
  }

  notice(text: string): void {
    this.aside(`note: ${text}\n`);
  }

  message(message: RunHostMessage): void {
    if (message.type === 'metrics') {
      // Of each series the last value counts: all of them are in the run's own files.
      for (const point of message.points) this.metrics.set(`${point.node_id}\0${point.name}`, point);
    } else if (message.type === 'artifact') this.artifacts.push(message.artifact);
    else if (message.type === 'warning') this.runWarnings.push(message.warning);
    else if (message.type === 'console') this.aside(message.text);
  }

  stopping(): void {
    this.aside('stopping\n');
  }

  finished(outcome: RunOutcome): void {
    const { status, error, reason, failed_nodes, skipped_nodes, final_outputs, graph_outputs, seconds } = outcome;
    this.document({
      status,
      error,
      reason,
      seconds,
      outputs: Object.fromEntries(
        (final_outputs ?? []).map(({ node_id, port, summary }) => [`${node_id}.${port}`, summary]),
      ),
      ...(graph_outputs && { graph_outputs }),
      failed_nodes,
      skipped_nodes,
    });
  }

  failed(message: string): void {
    this.document({ status: 'failed', error: message });
  }

  private document(found: Readonly<Record<string, unknown>>): void {
    const document = {
      status: 'failed',
      error: null,
      file: this.facts?.file ?? null,
      name: this.facts?.name ?? null,
      outputs: {},
      metrics: [...this.metrics.values()],
      artifacts: this.artifacts,
      issues: this.issues,
      warnings: [...this.warnings, ...this.runWarnings],
      seconds: 0,
      ...found,
    };
    this.write(`${JSON.stringify(document, null, 2)}\n`);
  }
}
