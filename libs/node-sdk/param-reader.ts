import type { ParamDefinition, Params } from '@cdui/protocol';
import { CodedError } from '@cdui/protocol';
import type { NodeLabel } from './node-label';
import { describeNode } from './node-label';

/**
 * The params of a node, read by name and by type; a missing one has its default. Each reader throws a `CodedError` that names node,
 * param, value and what is allowed: `invalid_param`, `param_below_min`, `param_above_max` or `option_not_available`.
 */
export class ParamReader {
  constructor(
    private readonly values: Params,
    private readonly definitions: readonly ParamDefinition[],
    private readonly node: NodeLabel,
  ) {}

  /** The value as the file has it, or the default. Also reads params that no definition lists (values injected by the engine). */
  raw(name: string): unknown {
    const value = this.values[name];
    return value === undefined ? this.definition(name)?.default : value;
  }

  int(name: string): number {
    const value = this.float(name);
    if (!Number.isSafeInteger(value)) this.reject(name, 'must be a whole number');
    return value;
  }

  /** Null where the param has no value. */
  optionalInt(name: string): number | null {
    return this.raw(name) === null ? null : this.int(name);
  }

  float(name: string): number {
    const value = this.raw(name);
    if (typeof value !== 'number' || Number.isNaN(value)) return this.reject(name, 'must be a number');
    const definition = this.definition(name);
    const min = definition?.min_value ?? -Infinity;
    const max = definition?.max_value ?? Infinity;
    if (value < min) this.reject(name, `must be at least ${min}`, 'param_below_min');
    if (value > max) this.reject(name, `must be at most ${max}`, 'param_above_max');
    return value;
  }

  text(name: string): string {
    const value = this.raw(name);
    return typeof value === 'string' ? value : this.reject(name, 'must be a text');
  }

  bool(name: string): boolean {
    const value = this.raw(name);
    return typeof value === 'boolean' ? value : this.reject(name, 'must be true or false');
  }

  /** The value of a select; one of its options. */
  choice<T extends string = string>(name: string): T {
    const options = this.definition(name)?.options ?? [];
    const value = this.raw(name);
    if (typeof value !== 'string' || !options.includes(value)) {
      return this.reject(name, `must be one of ${options.join(', ')}`, 'option_not_available');
    }
    return value as T;
  }

  /** A comma list of whole numbers (`"1, 4, -1"`); a single number or a JSON list serves as well. */
  ints(name: string): readonly number[] {
    const numbers = this.floats(name);
    if (!numbers.every((value) => Number.isSafeInteger(value))) this.reject(name, COMMA_LIST);
    return numbers;
  }

  /** A comma list of numbers (`"0.9, 0.999"`); a single number or a JSON list serves as well. */
  floats(name: string): readonly number[] {
    return this.words(name).map((word) => {
      const value = Number(word);
      return Number.isFinite(value) ? value : this.reject(name, 'must be numbers separated by commas');
    });
  }

  /** A comma list of words, trimmed; empty ones are an error, an empty text is an empty list. */
  words(name: string): readonly string[] {
    const value = this.raw(name);
    const words = Array.isArray(value) ? value.map(String) : splitCommas(value);
    if (words === null || words.some((word) => word === '')) {
      return this.reject(name, 'must be values separated by commas');
    }
    return words;
  }

  /** For rules that bounds cannot express: throws about this param. `rule` reads on after its name: `must divide ...`. */
  reject(name: string, rule: string, code = 'invalid_param'): never {
    // A secret never enters an error's text: logs and events carry it.
    const value = this.definition(name)?.param_type === 'secret' ? '(secret)' : (this.raw(name) ?? null);
    throw new CodedError(code, `${describeNode(this.node)}: param "${name}" ${rule}, got ${shorten(value)}`, {
      node_id: this.node.id,
      type: this.node.type,
      param: name,
      value,
      rule,
    });
  }

  private definition(name: string): ParamDefinition | undefined {
    return this.definitions.find((definition) => definition.name === name);
  }
}

const COMMA_LIST = 'must be whole numbers separated by commas';

function splitCommas(value: unknown): string[] | null {
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'string') return null;
  return value.trim() === '' ? [] : value.split(',').map((word) => word.trim());
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
