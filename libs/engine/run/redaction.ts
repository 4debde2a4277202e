import type { NodeRegistry, PresetRegistry } from '@cdui/node-sdk';
import type { OutputEntry, PortFacts } from '@cdui/protocol';
import { catalogView } from '../graph/node-types';
import { presetSecrets } from '../graph/secrets';
import type { Plan } from '../plan-types';

const HIDDEN = '[secret]';
/** The beginning of a secret is hidden from this length on where a text was cut ("..."); texts are cut below the greatest length. */
const SHORTEST_CUT = 4;
const LONGEST_CUT = 256;

/**
 * The values of secret params, of the plan's nodes and of the installed presets, any of which a node may run: nothing that a run
 * reports may hold one of them.
 */
export function secretsOf(plan: Plan, registry: NodeRegistry, presets: PresetRegistry): readonly string[] {
  const found = new Set<string>(presetSecrets(presets, catalogView(registry, presets)));
  for (const node of plan.nodes) {
    for (const param of registry.get(node.type)?.definition.params ?? []) {
      const value = node.params[param.name];
      if (param.param_type === 'secret' && typeof value === 'string' && value !== '') found.add(value);
    }
  }
  return [...found];
}

/**
 * Replaces secrets in texts and in all texts inside plain data, also where they stand escaped as JSON or in a URL, and what is left of
 * them where a text was cut.
 */
export class Redactor {
  private readonly pattern: RegExp | null;

  constructor(secrets: readonly string[]) {
    const forms = new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), uriForm(secret)]));
    forms.delete('');
    // The longest first: one secret may begin with another.
    const sorted = [...forms].sort((a, b) => b.length - a.length);
    const parts = [
      ...sorted.map(escapeForPattern),
      ...sorted.filter((form) => form.length > SHORTEST_CUT).map(cutForm),
    ];
    this.pattern = parts.length === 0 ? null : new RegExp(parts.join('|'), 'g');
  }

  /** Whether there is anything to hide. */
  get active(): boolean {
    return this.pattern !== null;
  }

  text(text: string): string {
    return this.pattern === null ? text : text.replace(this.pattern, HIDDEN);
  }

  /** A copy of plain data with every text in it redacted, the names of members included; the same data when there are no secrets. */
  data<T>(value: T): T {
    return this.pattern === null ? value : (this.copy(value) as T);
  }

  /** Redacts what the entry shows, not what kind it is. */
  entry(entry: OutputEntry): OutputEntry {
    const kind = entry.output_kind;
    const shown = (entry as unknown as Readonly<Record<string, unknown>>)[kind];
    return this.pattern === null ? entry : { ...entry, [kind]: this.copy(shown) };
  }

  /** Redacts the texts among facts; names of ports and kinds are the program's own words. */
  facts(facts: PortFacts): PortFacts {
    if (this.pattern === null) return facts;
    switch (facts.kind) {
      case 'string':
        return { ...facts, value: this.text(facts.value) };
      case 'list':
        return { ...facts, repr: this.text(facts.repr), values: this.data(facts.values) };
      case 'other':
        return { ...facts, repr: this.text(facts.repr) };
      case 'steps':
        return {
          ...facts,
          steps: facts.steps.map((step) => ({
            ...step,
            name: this.text(step.name),
            description: this.text(step.description),
          })),
        };
      case 'tensor':
      case 'gradient':
      case 'model':
      case 'scalar':
        return facts;
    }
  }

  private copy(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.copy(item));
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.copy(item)]));
  }
}

function uriForm(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch {
    // A lone surrogate has no URL form.
    return '';
  }
}

/** A pattern for the secret's longest beginning (but not all of it) before "...". */
function cutForm(form: string): string {
  const begin = escapeForPattern(form.slice(0, SHORTEST_CUT));
  const rest = [...form.slice(SHORTEST_CUT, Math.min(form.length - 1, LONGEST_CUT))].map(escapeForPattern);
  return `${begin}${rest.map((character) => `(?:${character}`).join('')}${')?'.repeat(rest.length)}(?=\\.\\.\\.)`;
}

function escapeForPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
