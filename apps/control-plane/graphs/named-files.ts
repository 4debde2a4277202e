import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlain, systemWords } from '@cdui/host';
import { CodedError } from '@cdui/protocol';
import { graphFileName, usableName } from './graph-names';

/** A saved graph, as lists show it. */
export interface SavedGraph {
  /** Leads to this file, and to no other. */
  readonly name: string;
  readonly file: string;
  readonly modified: string;
  /** Why it cannot be loaded; null when it can. */
  readonly problem: string | null;
}

/** What a file says, and the state of the file in which it said so. */
interface Read {
  readonly state: string;
  /** The name inside it; null when it has none that can be used. */
  readonly inner: string | null;
  readonly problem: string | null;
}

const SUFFIX = '.json';

/**
 * The graph files of a folder under their names. Files get there by hand as well: under names that no graph would give them, as copies of each other,
 * and as things that are no graphs. Every one that is listed can be reached by the name it is listed with.
 */
export class NamedFiles {
  /** A file is read again only when it has changed. */
  private known = new Map<string, Read>();

  constructor(private readonly folder: string) {}

  /** In the order of their names. @throws CodedError `storage_failed` */
  async list(): Promise<readonly SavedGraph[]> {
    const files = await this.files();
    const owners = new Map<string, string>();
    const names = new Map<string, string>();
    const claim = (file: string, name: string | null): void => {
      if (name === null || names.has(file) || owners.has(name)) return;
      owners.set(name, file);
      names.set(file, name);
    };
    // First those that lie where their name says; a copy is called by its file.
    for (const { file, inner } of files) if (inner !== null && graphFileName(inner) === file) claim(file, inner);
    for (const { file, inner } of files) claim(file, inner);
    for (const { file } of files) {
      claim(file, stemOf(file));
      claim(file, file);
    }
    return files
      .flatMap(({ file, modified, problem }) => {
        const name = names.get(file);
        return name === undefined ? [] : [{ name, file, modified, problem }];
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * The file that a name leads to; null when it leads to none. A graph's own name comes first, then the file that such a name is saved in, then
   * the name of a file.
   * @throws CodedError `invalid_name`, `storage_failed`
   */
  async find(name: string): Promise<string | null> {
    const file = graphFileName(name);
    const wanted = name.trim();
    const direct = await this.look(file);
    if (direct?.inner === wanted) return file;
    const all = await this.list();
    const named = all.find((graph) => graph.name === wanted);
    if (named) return named.file;
    if (direct !== null) return file;
    return all.find((graph) => stemOf(graph.file) === wanted)?.file ?? null;
  }

  /** One after the other: a folder of large graphs would be in memory as a whole otherwise. */
  private async files(): Promise<readonly (Read & { readonly file: string; readonly modified: string })[]> {
    const found: (Read & { readonly file: string; readonly modified: string })[] = [];
    const known = new Map<string, Read>();
    for (const file of await this.fileNames()) {
      const read = await this.look(file);
      if (read === null) continue;
      known.set(file, read);
      found.push({ ...read, file });
    }
    this.known = known;
    return found;
  }

  private async fileNames(): Promise<readonly string[]> {
    try {
      const entries = await readdir(this.folder, { withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && entry.name.endsWith(SUFFIX) && !entry.name.startsWith('.'))
        .map((entry) => entry.name)
        .sort();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return [];
      throw new CodedError(
        'storage_failed',
        `The folder of graphs ${this.folder} cannot be read: ${systemWords(code ?? String(error))}`,
        { folder: this.folder, error: code ?? String(error) },
        { cause: error },
      );
    }
  }

  /** Null for what is not there, and for what is no plain file. */
  private async look(file: string): Promise<(Read & { readonly modified: string }) | null> {
    const path = join(this.folder, file);
    const stats = await lstat(path, { bigint: true }).catch(() => null);
    if (stats === null || !stats.isFile()) return null;
    const modified = stats.mtime.toISOString();
    const state = `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
    const known = this.known.get(file);
    if (known?.state === state) return { ...known, modified };
    try {
      const graph = graphIn(await readPlain(path));
      const problem = graph === null ? 'It holds no JSON object' : null;
      const read = { state, inner: usableName(graph?.['name']), problem };
      this.known.set(file, read);
      return { ...read, modified };
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? String(error);
      if (code === 'ENOENT' || code === 'no_plain_file') return null;
      return { state: '', inner: null, problem: `It cannot be read: ${systemWords(code)}`, modified };
    }
  }
}

/** The object that a text holds; null when it holds none. */
export function graphIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

function stemOf(file: string): string {
  return file.slice(0, -SUFFIX.length);
}
