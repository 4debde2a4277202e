import type { ArtifactPayload, NodeStatusPayload, WarningPayload } from '@cdui/protocol';
import { isElided } from '@cdui/protocol';
import type { RunEvent } from '../client/api';
import type { Style } from '../graph-run/style';
import { describeSummary, duration } from '../graph-run/summary';
import { TrainingProgress } from '../graph-run/training';
import { cut, printable, textOf } from '../terminal/table';
import { bytes } from '../terminal/units';

/** What ports carry is cut to about a line: the whole of it is in the events. */
const REMARK = 120;

/** Turns the stored events of a run into lines of text. Pure: the same events give the same lines. */
export class EventLines {
  private readonly loops = new Map<string, TrainingProgress>();
  private readonly running = new Map<string, number>();
  private current: TrainingProgress | null = null;
  private now = 0;

  constructor(private readonly style: Style) {}

  lines(event: RunEvent): readonly string[] {
    // Other programs may have stored what this one does not expect: nothing of it may end the following of a run.
    const payload = isObject(event.payload) ? event.payload : {};
    const at = Date.parse(event.ts);
    if (!Number.isNaN(at)) this.now = at;
    switch (event.type) {
      case 'execution_start':
        return [this.style.strong('▸ started')];
      case 'node_status':
        return this.node(payload as unknown as NodeStatusPayload);
      case 'inner_node_status':
        return this.inner(payload as unknown as NodeStatusPayload & { readonly inner_id: string });
      case 'artifact': {
        const { kind, path, node_id } = payload as unknown as ArtifactPayload;
        return [this.style.dim(`  ${name(node_id)} saved ${printable(kind)} ${printable(path)}`)];
      }
      case 'run_warning':
        return [this.style.warn(`! ${printable((payload as unknown as WarningPayload).detail)}`)];
      default:
        // The end is told with the result; later versions may store kinds of events that this one does not know.
        return [];
    }
  }

  /** What happens now, on one line: the loop that trains, else the nodes that run; null when nothing does. */
  below(width: number): string | null {
    if (this.current !== null) return this.current.bar(this.now, width);
    const nodes = [...this.running.keys()];
    return nodes.length === 0 ? null : cut(`running ${nodes.map(name).join(', ')}`, width);
  }

  private node(payload: NodeStatusPayload): readonly string[] {
    const { node_id: node, status } = payload;
    switch (status) {
      case 'running':
        this.running.set(node, this.now);
        return [];
      case 'progress':
        return this.progress(payload);
      case 'completed':
      case 'cached':
        return this.ended(payload, this.style.good('✓'), status === 'cached' ? 'cached' : this.time(node));
      case 'interrupted':
        return this.ended(payload, this.style.warn('■'), 'interrupted');
      case 'skipped':
        return this.ended(payload, this.style.dim('–'), 'skipped');
      case 'error':
        return this.ended(payload, this.style.bad('✗'), this.time(node));
      default:
        return [];
    }
  }

  private ended(payload: NodeStatusPayload, mark: string, remark: string): readonly string[] {
    const { node_id: node, error } = payload;
    const outputs = entriesOf(payload);
    if (this.loops.get(node) === this.current) this.current = null;
    this.running.delete(node);
    const told = [remark, ...summaries(outputs)].filter((part) => part !== '');
    return [
      `${mark} ${this.style.name(name(node))}${told.length > 0 ? `  ${this.style.dim(cut(told.join('  '), REMARK))}` : ''}`,
      ...(isNothing(error) ? [] : [this.style.bad(`  ${printable(textOf(error).split('\n    at ')[0])}`)]),
      ...texts(outputs).map((line) => `  ${line}`),
    ];
  }

  /** Of what is inside a block only what failed is worth a line: the block has its own. */
  private inner({ node_id, inner_id, status, error }: NodeStatusPayload & { readonly inner_id: string }) {
    if (status !== 'error') return [];
    const why = isNothing(error) ? '' : `: ${printable(textOf(error).split('\n    at ')[0])}`;
    return [this.style.bad(`  ${name(node_id)}/${printable(inner_id)}${why}`)];
  }

  private progress(payload: NodeStatusPayload): readonly string[] {
    const { node_id: node } = payload;
    return entriesOf(payload).flatMap((entry) => {
      if (entry.output_kind !== 'progress' || isElided(entry) || !isObject(entry.progress)) return [];
      let loop = this.loops.get(node);
      if (!loop) this.loops.set(node, (loop = new TrainingProgress(this.now)));
      this.current = loop;
      const line = loop.take(entry.progress, this.now);
      return line === null ? [] : [`  ${this.style.name(name(node))}  ${line}`];
    });
  }

  private time(node: string): string {
    const begun = this.running.get(node);
    const seconds = begun === undefined ? 0 : (this.now - begun) / 1000;
    return seconds < 0.1 ? '' : duration(seconds);
  }
}

type Entries = NonNullable<NodeStatusPayload['outputs']>;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNothing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function entriesOf({ outputs }: { readonly outputs?: unknown }): Entries {
  return Array.isArray(outputs) ? (outputs.filter(isObject) as unknown as Entries) : [];
}

/** Nodes of presets that were opened carry the preset's name before two underscores. */
function name(node: string): string {
  return printable(textOf(node).replace('__', '/'));
}

function summaries(outputs: Entries): readonly string[] {
  return outputs.flatMap((entry) =>
    entry.output_kind === 'tensor_summary' && !isElided(entry) && isObject(entry.tensor_summary)
      ? [`${printable(entry.port ?? 'value')}: ${printable(describeSummary(entry.tensor_summary))}`]
      : [],
  );
}

function texts(outputs: Entries): readonly string[] {
  return outputs.flatMap((entry) => {
    if (entry.output_kind !== 'text') return [];
    if (isElided(entry))
      return [
        `... ${typeof entry.bytes === 'number' ? bytes(entry.bytes) : 'more'} of text: the run's log has it ("cdui runs logs ID")`,
      ];
    return 'text' in entry ? textOf(entry.text).replace(/\n$/, '').split('\n').map(printable) : [];
  });
}
