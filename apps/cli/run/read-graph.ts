import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Failure } from '../failure';

export interface GraphText {
  readonly graph: Readonly<Record<string, unknown>>;
  /** The graph's own name, else the file's. */
  readonly name: string;
}

/**
 * Reads a graph file, or standard input for `-`. What is in it is the server's to judge.
 * @throws Failure `file_not_read` or `not_json`, with the file's full path
 */
export async function readGraph(file: string): Promise<GraphText> {
  const path = file === '-' ? 'standard input' : resolve(file);
  const json = await (file === '-' ? text(process.stdin) : contentOf(path));
  let graph: unknown;
  try {
    graph = JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new Failure('not_json', `${path} is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof graph !== 'object' || graph === null || Array.isArray(graph)) {
    throw new Failure('not_a_graph', `${path} is no graph file: a graph is a JSON object with "nodes" and "edges"`);
  }
  const { name } = graph as { readonly name?: unknown };
  const own = typeof name === 'string' && name.trim() !== '' ? name.trim() : null;
  const plain = file === '-' ? 'graph' : basename(path).replace(/(\.graph)?\.json$/i, '');
  return { graph: graph as GraphText['graph'], name: own ?? plain };
}

async function contentOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const words: Readonly<Record<string, string>> = {
      ENOENT: 'there is no such file',
      EISDIR: 'it is a folder',
      EACCES: 'permission denied',
    };
    throw new Failure('file_not_read', `cannot read ${path}: ${words[code ?? ''] ?? code ?? String(error)}`);
  }
}
