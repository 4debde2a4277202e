import type { GraphIssue, NodeStatusPayload, OutputEntry, RunHostMessage, RunOutcome } from '@cdui/protocol';
import { isElided } from '@cdui/protocol';
import { plainStyle, type Style } from './style';
import { describeSummary, duration } from './summary';
import { TrainingProgress } from './training';
import type { FileFacts } from './view';

/** Turns a run's messages into lines of text. Pure: the same messages give the same lines. */
export class RunLines {
  private readonly loops = new Map<string, TrainingProgress>();

  constructor(
    private readonly style: Style = plainStyle,
    private readonly verbose = false,
  ) {}

  /** The loop that reported last and still runs, for a progress bar. */
  current: { readonly node: string; readonly progress: TrainingProgress } | null = null;

  banner({ file, name, nodes, edges, planned }: FileFacts): readonly string[] {
    const opened = planned === nodes ? '' : `, ${planned} to run`;
    return [
      `${this.style.strong(name)}  ${this.style.dim(file)}`,
      `${plural(nodes, 'node')}, ${plural(edges, 'edge')}${opened}`,
    ];
  }

  validation(issues: readonly GraphIssue[], warnings: readonly GraphIssue[]): readonly string[] {
    const said = warnings.map((warning) => this.style.warn(`warning: ${warning.message}`));
    if (issues.length === 0) return [...said, this.style.good('validation OK')];
    return [
      ...said,
      this.style.bad(`${plural(issues.length, 'problem')}:`),
      ...issues.map((issue, index) => `  ${index + 1}. ${issue.message}`),
    ];
  }

  lines(message: RunHostMessage): readonly string[] {
    switch (message.type) {
      case 'event':
        if (message.event.type === 'inner_node_status') {
          const { node_id, inner_id, ...rest } = message.event.payload;
          return this.status({ ...rest, node_id: `${node_id}/${inner_id}` }, message.at_ms);
        }
        return this.status(message.event.payload, message.at_ms);
      case 'artifact':
        return [`${this.tag(message.artifact.node_id)} saved ${message.artifact.path}`];
      case 'warning':
        return [this.style.warn(`warning: ${message.warning.detail}`)];
      case 'console':
        return message.text.replace(/\n$/, '').split('\n');
      case 'ready':
      case 'run_started':
      case 'metrics':
      case 'run_facts':
      case 'run_finished':
        return [];
    }
  }

  ending(outcome: RunOutcome): readonly string[] {
    const outputs = (outcome.final_outputs ?? []).map(
      ({ node_id, port, summary }) => `  ${node_id.replace('__', '/')}.${port} = ${describeSummary(summary)}`,
    );
    const values = Object.entries(outcome.graph_outputs ?? {}).map(
      ([name, value]) => `  ${name} = ${describeValue(value)}`,
    );
    const verdict = {
      succeeded: this.style.good('succeeded'),
      failed: this.style.bad('failed'),
      cancelled: this.style.warn('cancelled'),
      interrupted: this.style.warn('interrupted'),
    }[outcome.status];
    return [
      ...(outcome.error === null ? [] : [this.style.bad(`error: ${outcome.error}`)]),
      `${verdict} in ${duration(outcome.seconds)}`,
      ...(outputs.length > 0 ? [this.style.strong('Final Outputs'), ...outputs] : []),
      ...(values.length > 0 ? [this.style.strong('Graph Outputs'), ...values] : []),
    ];
  }

  private status(payload: NodeStatusPayload, atMs: number): readonly string[] {
    const { node_id: node, status } = payload;
    const tag = this.tag(node);
    switch (status) {
      case 'running':
        return [`${tag} ${this.style.dim('running')}`];
      case 'progress':
        return this.progress(payload, atMs).map((line) => `${tag} ${line}`);
      case 'completed':
      case 'cached':
      case 'interrupted':
        this.ended(node);
        return [`${tag} ${this.style.good(status)}${this.outputs(payload.outputs)}`];
      case 'skipped':
        return [`${tag} ${this.style.dim(`skipped${payload.error === undefined ? '' : `: ${payload.error}`}`)}`];
      case 'error':
        this.ended(node);
        return [`${tag} ${this.style.bad(`ERROR: ${this.errorText(payload.error)}`)}`];
    }
  }

  private progress({ node_id: node, outputs }: NodeStatusPayload, atMs: number): readonly string[] {
    return (outputs ?? []).flatMap((entry) => {
      if (entry.output_kind !== 'progress' || isElided(entry)) return [];
      let progress = this.loops.get(node);
      if (!progress) this.loops.set(node, (progress = new TrainingProgress(atMs)));
      this.current = { node, progress };
      const line = progress.take(entry.progress, atMs);
      return line === null ? [] : [line];
    });
  }

  private ended(node: string): void {
    if (this.current?.node === node) this.current = null;
  }

  private outputs(outputs: readonly OutputEntry[] = []): string {
    const shown = outputs.flatMap((entry) => {
      if (entry.output_kind === 'tensor_summary' && !isElided(entry)) {
        return [`${entry.port ?? 'value'}: ${describeSummary(entry.tensor_summary)}`];
      }
      return entry.output_kind === 'image' || entry.output_kind === 'chart' ? [entry.output_kind] : [];
    });
    return shown.length > 0 ? ` -> ${shown.join(', ')}` : '';
  }

  /** The stack that debug runs append is for those who asked for it. */
  private errorText(error = 'no reason given'): string {
    return this.verbose ? error : (error.split('\n    at ')[0] as string);
  }

  private tag(node: string): string {
    return this.style.name(`[${node.replace('__', '/')}]`);
  }
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

function describeValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
