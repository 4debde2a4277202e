import type { OutputEntry, PortFacts, ValueFacts } from '@cdui/protocol';

/** Characters of a text or of a list's description that a summary carries. */
export const SUMMARY_TEXT = 200;

/** What a port carries, as `tensor_summary` entries say it (the kind is called so for every type of value). */
export function summaryOf(facts: ValueFacts): Readonly<Record<string, unknown>> {
  switch (facts.kind) {
    case 'tensor':
    case 'gradient': {
      const { shape, dtype, min, max, mean, values } = facts;
      return {
        type: 'tensor',
        shape,
        dtype,
        min,
        max,
        ...(dtype.startsWith('float') && { mean }),
        ...(values && { values }),
        ...(facts.kind === 'gradient' && { health: facts.health }),
      };
    }
    case 'model':
      return { type: 'model', class: facts.class, params: facts.params, trainable: facts.trainable };
    case 'scalar':
      return { type: 'scalar', value: facts.value };
    case 'string':
      return { type: 'string', value: shorten(facts.value) };
    case 'list':
      return {
        type: 'list',
        length: facts.length,
        repr: shorten(facts.repr),
        ...(facts.values && { values: facts.values }),
      };
    case 'steps':
      return { type: 'steps', steps: facts.steps };
    case 'other':
      return { type: facts.type, repr: shorten(facts.repr) };
  }
}

export function summaryEntry(facts: PortFacts): OutputEntry {
  return { output_kind: 'tensor_summary', tensor_summary: summaryOf(facts), port: facts.port };
}

function shorten(text: string): string {
  return text.length > SUMMARY_TEXT ? `${text.slice(0, SUMMARY_TEXT - 3)}...` : text;
}
