import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileProblem, folderProblem } from './settings-folders';

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

  /** Comma-separated entries as `read` gives them; null from it stands for one that cannot be used. */
  list(
    name: string,
    initial: readonly string[],
    read: (entry: string) => string | null,
    accepts: string,
  ): readonly string[] {
    const text = this.given(name);
    if (text === null) return initial;
    const entries = text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
    const bad = entries.filter((entry) => read(entry) === null).map((entry) => `"${entry}"`);
    if (bad.length > 0)
      return this.refuse(name, text, `${accepts}, separated by commas; not ${bad.join(', ')}`, initial);
    return entries.flatMap((entry) => read(entry) ?? []);
  }

  /** A folder, which need not be there yet. One that is not absolute counts from the working directory. */
  folder(name: string, initial: string): string {
    const path = this.path(name, initial);
    const problem = this.given(name) !== null || existsSync(path) ? folderProblem(path) : null;
    return problem === null ? path : this.refuse(name, path, `a folder (${problem})`, path);
  }

  /** A folder that is there already. */
  existingFolder(name: string, initial: string | null): string | null {
    if (this.given(name) === null) return initial;
    const path = this.path(name, '');
    const problem = existsSync(path) ? folderProblem(path) : 'nothing is there';
    return problem === null ? path : this.refuse(name, path, `a folder that exists (${problem})`, initial);
  }

  /** A file, which need not be there yet. */
  file(name: string, initial: string): string {
    const path = this.path(name, initial);
    const problem = this.given(name) !== null || existsSync(path) ? fileProblem(path) : null;
    return problem === null ? path : this.refuse(name, path, `the path of a file (${problem})`, path);
  }

  /** A variable that similar programs have and this one does not: better refused than ignored. */
  absent(name: string, instead: string): void {
    const text = this.given(name);
    if (text !== null) this.problems.push(`CODEFYUI_${name} is "${text}", and there is no such setting: ${instead}`);
  }

  private path(name: string, initial: string): string {
    const text = this.given(name);
    return text === null ? initial : resolve(text);
  }

  private refuse<V>(name: string, text: string, accepts: string, initial: V): V {
    this.problems.push(`CODEFYUI_${name} is "${text}": give ${accepts}`);
    return initial;
  }
}
