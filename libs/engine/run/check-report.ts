import type { TraceStep } from '@cdui/node-sdk';
import { isTensor, whyNotData } from '@cdui/node-sdk';
import type { OutputEntry, WarningPayload } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import { isObject, show } from '../graph/json';

/** What the fields of a report take, in the words of the message. */
const TAKES = {
  text: 'a text',
  name: 'a text that is not empty',
  number: 'a number (NaN and infinities are stored as null)',
  whole: 'a whole number',
  data: 'an object of plain data',
  report: 'an object with the fields that the type declares',
} as const;

type Takes = keyof typeof TAKES;
type Fields = Readonly<Record<string, unknown>>;

const KINDS: readonly OutputEntry['output_kind'][] = ['text', 'image', 'chart', 'video', 'progress', 'tensor_summary'];

/**
 * Checks of what a node reports, where it comes in: nodes are other people's programs, and what is stored must have the shape that every
 * reader of events relies on.
 *
 * Each throws CodedError `invalid_report`, which names the call, the field, the value and what it takes.
 */
export class ReportCheck {
  constructor(private readonly nodeId: string) {}

  /** A log's text; what has an obvious text form is taken too. */
  log(text: unknown): string {
    if (typeof text === 'string') return text;
    if (typeof text === 'number' || typeof text === 'boolean' || typeof text === 'bigint') return String(text);
    return this.refuse('log', 'text', text, TAKES.text);
  }

  progress(frame: unknown): void {
    this.field('progress', 'frame', frame, 'data');
  }

  metric(name: unknown, value: unknown, step: unknown): void {
    this.field('metric', 'name', name, 'name');
    this.field('metric', 'value', value, 'number');
    this.field('metric', 'step', step, 'whole');
  }

  artifact(kind: unknown, path: unknown, meta: unknown): void {
    this.field('artifact', 'kind', kind, 'name');
    this.field('artifact', 'path', path, 'name');
    this.field('artifact', 'meta', meta, 'data');
  }

  warn(warning: WarningPayload): void {
    const { kind, detail, count, code, params } = this.members('warn', 'warning', warning);
    this.field('warn', 'kind', kind, 'name');
    this.field('warn', 'detail', detail, 'text');
    if (count !== undefined) this.field('warn', 'count', count, 'whole');
    if (code !== undefined) this.field('warn', 'code', code, 'name');
    if (params !== undefined) this.field('warn', 'params', params, 'data');
  }

  output(entry: OutputEntry): void {
    const members = this.members('output', 'entry', entry);
    const { output_kind: kind, port } = members;
    const known = KINDS.find((one) => one === kind);
    if (known === undefined) return this.refuse('output', 'output_kind', kind, `one of ${KINDS.join(', ')}`);
    if (port !== undefined) this.field('output', 'port', port, 'text');
    const shown = members[known];
    if (known === 'text') return this.field('output', 'text', shown, 'text');
    this.field('output', known, shown, 'data');
    if (known === 'image') this.image(shown as Fields);
  }

  step(step: TraceStep): void {
    const { name, description, scalars, tensors } = this.members('step', 'step', step);
    this.field('step', 'name', name, 'text');
    this.field('step', 'description', description, 'text');
    for (const [key, value] of this.entries('scalars', scalars)) this.field('step', `scalars.${key}`, value, 'number');
    for (const [key, value] of this.entries('tensors', tensors)) {
      if (!isTensor(value as TraceStep['tensors'] & object)) this.refuse('step', `tensors.${key}`, value, 'a tensor');
    }
  }

  /** The facts of a node that stopped early. */
  interrupted(facts: unknown): void {
    this.field('interrupted', 'facts', facts, 'data');
  }

  private image({ format, encoding, data }: Fields): void {
    if (format !== 'png') this.refuse('output', 'image.format', format, '"png"');
    if (encoding !== 'base64') this.refuse('output', 'image.encoding', encoding, '"base64"');
    this.field('output', 'image.data', data, 'text');
  }

  private entries(field: string, value: unknown): readonly [string, unknown][] {
    if (value === undefined) return [];
    return isObject(value) ? Object.entries(value) : this.refuse('step', field, value, 'an object');
  }

  private members(call: string, field: string, value: unknown): Fields {
    return isObject(value) ? value : this.refuse(call, field, value, TAKES.report);
  }

  private field(call: string, field: string, value: unknown, takes: Takes): void {
    if (!FITS[takes](value)) this.refuse(call, field, value, TAKES[takes]);
    if (takes !== 'data') return;
    const problem = whyNotData(value);
    if (problem !== null) this.refuse(call, field, value, TAKES.data, ` that ${problem}`);
  }

  private refuse(call: string, field: string, value: unknown, takes: string, more = ''): never {
    const { nodeId: node_id } = this;
    const got = typeof value === 'function' ? 'a function' : show(value);
    throw new CodedError(
      'invalid_report',
      `Node "${node_id}" called ${call}(...) with a wrong "${field}": it takes ${takes}, got ${got}${more}`,
      { node_id, call, field, takes, got },
    );
  }
}

const FITS: Readonly<Record<Takes, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  name: (value) => typeof value === 'string' && value !== '',
  number: (value) => typeof value === 'number',
  whole: Number.isSafeInteger,
  data: (value) => isObject(value) && !ArrayBuffer.isView(value),
  report: isObject,
};
