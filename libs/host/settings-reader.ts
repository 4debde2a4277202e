import { statSync } from 'node:fs';
import { resolve } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

const YES = /^(1|true|yes|on)$/i;
const NO = /^(0|false|no|off)$/i;

/** Reads `CODEFYUI_*` variables one by one and gathers what is wrong with each. An empty variable counts as one that is not set. */
export class SettingsReader {
  /** Sentences that name the variable, its value and what it accepts. */
  readonly problems: string[] = [];

  constructor(private readonly env: Environment) {}

  given(name: string): string | null {
    return this.env[`CODEFYUI_${name}`]?.trim() || null;
  }

  whole(name: string, initial: number, { min, max = Number.MAX_SAFE_INTEGER }: { min: number; max?: number }): number {
    const text = this.given(name);
    if (text === null) return initial;
    const value = Number(text);
    if (/^-?\d+$/.test(text) && value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    return this.refuse(name, text, `a whole number ${range}`, initial);
  }

  truth(name: string, initial: boolean): boolean {
    const text = this.given(name);
    if (text === null) return initial;
    if (YES.test(text)) return true;
    return NO.test(text) ? false : this.refuse(name, text, 'true or false', initial);
  }

  oneOf<V extends string>(name: string, initial: V, values: readonly V[]): V {
    const text = this.given(name);
    if (text === null) return initial;
    const value = values.find((known) => known === text.toLowerCase());
    return value ?? this.refuse(name, text, `one of ${values.join(', ')}`, initial);
  }

  matching(name: string, initial: string, form: RegExp, accepts: string): string {
    const text = this.given(name);
    if (text === null) return initial;
    return form.test(text) ? text : this.refuse(name, text, accepts, initial);
  }

  /** Comma-separated, lower-cased. */
  list(name: string, initial: readonly string[]): readonly string[] {
    const text = this.given(name);
    if (text === null) return initial;
    return text
      .split(',')
      .map((entry) => entry.trim().toLowerCase())
      .filter((entry) => entry !== '');
  }

  /** A path; one that is not absolute counts from the working directory. */
  folder(name: string, initial: string): string {
    const text = this.given(name);
    return text === null ? initial : resolve(text);
  }

  /** The path of a file that is there or can come to be there. */
  file(name: string, initial: string): string {
    const path = this.folder(name, initial);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isFile()) return path;
    return this.refuse(
      name,
      path,
      `the path of a file (${found.isDirectory() ? 'a folder' : 'no plain file'} is there)`,
      initial,
    );
  }

  private refuse<V>(name: string, text: string, accepts: string, initial: V): V {
    this.problems.push(`CODEFYUI_${name} is "${text}": give ${accepts}`);
    return initial;
  }
}
