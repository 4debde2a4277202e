import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { CodedError } from '@cdui/protocol';
import { SETTINGS, type Settings } from '../config/settings';
import { confinedFile } from '../system/confined-path';

export interface Example {
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly path: string;
  readonly source: 'builtin';
  readonly node_count: number;
  readonly edge_count: number;
}

const SUFFIX = '.graph.json';

/** The program's own example graphs; read only. */
@Injectable()
export class ExampleFolder {
  private readonly logger = new Logger('examples');

  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  async list(): Promise<readonly Example[]> {
    const folder = this.settings.examplesDir;
    if (folder === null) return [];
    const names = await readdir(folder, { recursive: true }).catch(() => []);
    const files = names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.split(sep).join('/'));
    const examples = await Promise.all(files.sort().map((path) => this.describe(path)));
    return examples.filter((example) => example !== null);
  }

  /** @throws CodedError `example_not_found` for whatever is no graph in the folder of examples */
  async load(path: string): Promise<unknown> {
    const folder = this.settings.examplesDir;
    const file = folder === null || !path.endsWith(SUFFIX) ? null : await confinedFile(resolve(folder, path), [folder]);
    if (file === null) {
      throw new CodedError('example_not_found', `There is no example "${path}": the list of examples has them all`, {
        path,
      });
    }
    return JSON.parse(await readFile(file, 'utf8'));
  }

  private async describe(path: string): Promise<Example | null> {
    try {
      const graph = (await this.load(path)) as Readonly<Record<string, unknown>>;
      const folder = dirname(path);
      return {
        name: text(graph['name']) ?? basename(path, SUFFIX),
        description: text(graph['description']) ?? '',
        category: folder === '.' ? '' : folder,
        path,
        source: 'builtin',
        node_count: count(graph['nodes']),
        edge_count: count(graph['edges']),
      };
    } catch (error) {
      this.logger.warn(`Example ${join(this.settings.examplesDir!, path)} is left out: ${String(error)}`);
      return null;
    }
  }
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function count(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}
