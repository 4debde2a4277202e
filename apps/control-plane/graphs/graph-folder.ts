import { randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { makeFolder, readPlain, systemWords } from '@cdui/host';
import { CodedError } from '@cdui/protocol';
import { SETTINGS, type Settings } from '../config/settings';
import { graphFileName } from './graph-names';
import { graphIn, NamedFiles, type SavedGraph } from './named-files';

/** The folder of saved graphs. Every write makes a whole file durable before it takes the place of another. */
@Injectable()
export class GraphFolder {
  private readonly files: NamedFiles;

  constructor(@Inject(SETTINGS) private readonly settings: Settings) {
    this.files = new NamedFiles(settings.graphsDir);
  }

  /** @throws CodedError `storage_failed` */
  list(): Promise<readonly SavedGraph[]> {
    return this.files.list();
  }

  /** @throws CodedError `graph_not_found`, `invalid_name`, `unsupported_graph` when the file holds something else, `storage_failed` */
  async load(name: string): Promise<Readonly<Record<string, unknown>>> {
    return this.read(name, await this.fileOf(name));
  }

  /** @throws CodedError `graph_exists` unless an existing one may be overwritten; `invalid_name`, `storage_failed` */
  async save(name: string, graph: Readonly<Record<string, unknown>>, overwrite: boolean): Promise<SavedGraph> {
    // A graph that got its file in another way keeps it.
    const file = (await this.files.find(name)) ?? graphFileName(name);
    // The name comes first, where people find it.
    const { name: _, ...rest } = graph;
    const text = `${JSON.stringify({ name: name.trim(), ...rest }, null, 2)}\n`;
    await this.storing(async () => {
      await makeFolder(this.folder);
      await this.replace(file, text, overwrite, name);
    });
    return { name: name.trim(), file, modified: new Date().toISOString(), problem: null };
  }

  /** @throws CodedError `graph_not_found`, `graph_exists`, `invalid_name`, `unsupported_graph`, `storage_failed` */
  async rename(from: string, to: string, overwrite: boolean): Promise<SavedGraph> {
    const source = await this.fileOf(from);
    const target = (await this.files.find(to)) ?? graphFileName(to);
    const graph = await this.read(from, source);
    const saved = await this.save(to, graph, overwrite || source === target);
    // Both names lead to the graph for a moment; neither ever leads to nothing.
    await this.storing(async () => {
      if (!(await this.isSame(source, saved.file))) await rm(join(this.folder, source), { force: true });
    });
    return saved;
  }

  /** @throws CodedError `graph_not_found`, `invalid_name`, `storage_failed` */
  async delete(name: string): Promise<void> {
    const file = await this.fileOf(name);
    await this.storing(() =>
      rm(join(this.folder, file)).catch((error: unknown) => {
        throw missing(error) ? notFound(name) : error;
      }),
    );
  }

  private get folder(): string {
    return this.settings.graphsDir;
  }

  /** @throws CodedError `graph_not_found` */
  private async fileOf(name: string): Promise<string> {
    const file = await this.files.find(name);
    if (file !== null) return file;
    const path = join(this.folder, graphFileName(name));
    const there = await lstat(path).catch(() => null);
    throw notFound(name, there ? `${path} is no plain file but a folder, a link, a pipe or a device` : undefined);
  }

  private async read(name: string, file: string): Promise<Readonly<Record<string, unknown>>> {
    const text = await readPlain(join(this.folder, file)).catch((error: unknown) => {
      if (missing(error)) throw notFound(name);
      if (error instanceof CodedError) throw notFound(name, error.message);
      throw this.failed(error, 'read');
    });
    const graph = graphIn(text);
    if (graph !== null) return graph;
    throw new CodedError('unsupported_graph', `The file of graph "${name}" (${file}) holds no JSON object`, {
      name,
      file,
    });
  }

  /** Where case does not count, two names may be one file. */
  private async isSame(one: string, other: string): Promise<boolean> {
    if (one === other) return true;
    const stats = (file: string): Promise<BigIntStats | null> =>
      lstat(join(this.folder, file), { bigint: true }).catch(() => null);
    const [a, b] = [await stats(one), await stats(other)];
    return a !== null && b !== null && a.ino === b.ino && a.dev === b.dev;
  }

  private async replace(file: string, text: string, overwrite: boolean, name: string): Promise<void> {
    const path = join(this.folder, file);
    const draft = join(this.folder, `.${file}.${randomBytes(6).toString('hex')}.draft`);
    try {
      const handle = await open(draft, 'wx');
      try {
        await handle.writeFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
      if (overwrite) await rename(draft, path);
      else await linkNew(draft, path, name, file);
      await syncFolder(this.folder);
    } finally {
      await rm(draft, { force: true });
    }
  }

  private async storing(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw error instanceof CodedError ? error : this.failed(error, 'written');
    }
  }

  private failed(error: unknown, how: 'read' | 'written'): CodedError {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    const message = `The folder of graphs ${this.folder} cannot be ${how}: ${systemWords(reason)}`;
    return new CodedError('storage_failed', message, { folder: this.folder, error: reason }, { cause: error });
  }
}

/** Gives the draft its name only if nothing has it: two who save at once cannot both win. */
async function linkNew(draft: string, path: string, name: string, file: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // Then the other graph may have another name altogether.
    const shared = file === `${name.trim()}.json` ? '' : ' (in files, all but letters, digits, _ and - becomes _)';
    const message = `There is a graph in ${file}${shared} already: choose another name, or overwrite it`;
    throw new CodedError('graph_exists', message, { name, file });
  }
}

async function syncFolder(folder: string): Promise<void> {
  // A folder cannot be opened on Windows; its entries are durable without it.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function notFound(name: string, why = 'the list of graphs has them all'): CodedError {
  return new CodedError('graph_not_found', `There is no graph "${name}": ${why}`, { name });
}

function missing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
