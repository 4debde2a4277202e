import { randomBytes } from 'node:crypto';
import { link, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { makeFolder, systemWords } from '@cdui/host';
import { CodedError } from '@cdui/protocol';
import { SETTINGS, type Settings } from '../config/settings';
import { graphFileName } from './graph-names';

/** A saved graph, as lists show it. */
export interface SavedGraph {
  readonly name: string;
  readonly file: string;
  readonly modified: string;
}

/** Enough of a file to find the name that saved graphs begin with. */
const HEAD_BYTES = 1024;

/** The folder of saved graphs. Every write makes a whole file durable before it takes the place of another. */
@Injectable()
export class GraphFolder {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  async list(): Promise<readonly SavedGraph[]> {
    const entries = await readdir(this.folder, { withFileTypes: true }).catch(none);
    const files = entries.filter(
      (entry) => entry.isFile() && entry.name.endsWith('.json') && !entry.name.startsWith('.'),
    );
    const graphs = await Promise.all(files.map(({ name }) => this.describe(name)));
    return graphs.filter((graph) => graph !== null).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @throws CodedError `graph_not_found`, `invalid_name`, `unsupported_graph` when the file holds something else */
  async load(name: string): Promise<Readonly<Record<string, unknown>>> {
    const text = await readFile(this.pathOf(name), 'utf8').catch((error: unknown) => {
      throw missing(error) ? notFound(name) : error;
    });
    const graph = parsed(text);
    if (graph !== null) return graph;
    throw new CodedError('unsupported_graph', `The file of graph "${name}" holds no JSON object`, { name });
  }

  /** @throws CodedError `graph_exists` unless an existing one may be overwritten; `invalid_name`, `storage_failed` */
  async save(name: string, graph: Readonly<Record<string, unknown>>, overwrite: boolean): Promise<SavedGraph> {
    const file = graphFileName(name);
    // The name comes first, where lists find it.
    const { name: _, ...rest } = graph;
    const text = `${JSON.stringify({ name: name.trim(), ...rest }, null, 2)}\n`;
    await this.storing(async () => {
      await makeFolder(this.folder);
      await this.replace(file, text, overwrite, name);
    });
    return { name: name.trim(), file, modified: new Date().toISOString() };
  }

  /** @throws CodedError `graph_not_found`, `graph_exists`, `invalid_name` */
  async rename(from: string, to: string, overwrite: boolean): Promise<SavedGraph> {
    const [source, target] = [graphFileName(from), graphFileName(to)];
    const graph = await this.load(from);
    const saved = await this.save(to, graph, overwrite || source === target);
    // Both names lead to the graph for a moment; neither ever leads to nothing.
    if (source !== target) await this.storing(() => rm(join(this.folder, source), { force: true }));
    return saved;
  }

  /** @throws CodedError `graph_not_found`, `invalid_name` */
  async delete(name: string): Promise<void> {
    const path = this.pathOf(name);
    await this.storing(() =>
      rm(path).catch((error: unknown) => {
        throw missing(error) ? notFound(name) : error;
      }),
    );
  }

  private get folder(): string {
    return this.settings.graphsDir;
  }

  private pathOf(name: string): string {
    return join(this.folder, graphFileName(name));
  }

  private async describe(file: string): Promise<SavedGraph | null> {
    const path = join(this.folder, file);
    try {
      const [{ mtime }, head] = await Promise.all([stat(path), headOf(path)]);
      return { name: nameIn(head) ?? file.slice(0, -'.json'.length), file, modified: mtime.toISOString() };
    } catch (error) {
      if (missing(error)) return null;
      throw error;
    }
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
      if (error instanceof CodedError) throw error;
      const reason = (error as NodeJS.ErrnoException).code ?? String(error);
      throw new CodedError(
        'storage_failed',
        `The folder of graphs ${this.folder} cannot be written: ${systemWords(reason)}`,
        {
          folder: this.folder,
          error: reason,
        },
        { cause: error },
      );
    }
  }
}

/** Gives the draft its name only if nothing has it: two who save at once cannot both win. */
async function linkNew(draft: string, path: string, name: string, file: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // Then the other graph may have another name altogether.
    const shared = file === `${name.trim()}.json` ? '' : ' (in files, all but A-Z, a-z, 0-9, _ and - becomes _)';
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

async function headOf(path: string): Promise<string> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The name that a saved graph begins with; other files of the folder are named by their file. */
function nameIn(head: string): string | null {
  const text = /^\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(head)?.[1];
  if (text === undefined) return null;
  try {
    return JSON.parse(text) as string;
  } catch {
    return null;
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

function notFound(name: string): CodedError {
  return new CodedError('graph_not_found', `There is no graph "${name}": GET /api/graph/list lists all of them`, {
    name,
  });
}

function missing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function none(error: unknown): never[] {
  if (missing(error)) return [];
  throw error;
}
