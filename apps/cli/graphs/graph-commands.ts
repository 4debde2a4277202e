import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Api } from '../client/api';
import type { ServerChoice } from '../commands/server-command';
import { EXIT } from '../exit-codes';
import { Failure } from '../failure';
import { notWritten } from '../file-failure';
import { readGraph } from '../run/read-graph';
import { cut, printable, table } from '../terminal/table';
import { ago } from '../terminal/units';

/** What the commands about the server's saved graphs do; each returns the process's exit code. */

const NAME = 60;
const print = (lines: readonly string[]): void => void process.stdout.write(lines.map((line) => `${line}\n`).join(''));
const document = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
const apiOf = (choice: ServerChoice): Api => new Api(choice, process.env);

export async function listGraphs(options: ServerChoice): Promise<number> {
  const graphs = await apiOf(options).read((client, signal) => client.get('/api/graph/list', { signal }));
  if (options.json) document(graphs);
  else if (graphs.length === 0) print(['No saved graphs: "cdui graphs save FILE" saves one.']);
  else {
    const rows = graphs.map(({ name, file, modified, problem }) => [
      cut(name, NAME),
      ago(modified, Date.now()),
      problem === null ? printable(file) : `${printable(file)} (broken: ${printable(problem)})`,
    ]);
    print(table(['NAME', 'AGE', 'FILE'], rows));
  }
  return EXIT.ok;
}

export async function saveGraph(
  file: string,
  options: ServerChoice & { readonly name?: string; readonly overwrite?: boolean },
): Promise<number> {
  const { graph, name } = await readGraph(file);
  const body = { graph, name: options.name ?? name, overwrite: options.overwrite ?? false };
  const api = apiOf(options);
  try {
    const saved = await api.order((client, signal) => client.post('/api/graph/save', { body, signal }));
    if (options.json) document(saved);
    else print([`Saved as ${printable(saved.name)} (${printable(saved.path)})`]);
    return EXIT.ok;
  } catch (error) {
    throw withOverwrite(error);
  }
}

/** The file itself: on standard output, or where it is asked for. */
export async function loadGraph(
  name: string,
  options: ServerChoice & { readonly output?: string; readonly force?: boolean },
): Promise<number> {
  const graph = await load(name, options);
  if (options.output === undefined) {
    document(graph);
    return EXIT.ok;
  }
  const path = resolve(options.output);
  try {
    await writeFile(path, `${JSON.stringify(graph, null, 2)}\n`, { flag: options.force ? 'w' : 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw notWritten(path, error);
    throw new Failure('file_not_written', `cannot write ${path}: it is there already; --force overwrites it`);
  }
  if (options.json) document({ name, path });
  else print([`${printable(name)} is in ${path}`]);
  return EXIT.ok;
}

export async function showGraph(name: string, options: ServerChoice): Promise<number> {
  const graph = await load(name, options);
  if (options.json) {
    document(graph);
    return EXIT.ok;
  }
  const { nodes = [], edges = [] } = graph as {
    readonly nodes?: readonly { readonly id?: unknown; readonly type?: unknown }[];
    readonly edges?: readonly { readonly source?: unknown; readonly target?: unknown; readonly type?: unknown }[];
  };
  const into = new Map<unknown, Set<string>>();
  for (const { source, target } of edges) into.set(target, (into.get(target) ?? new Set()).add(String(source)));
  const rows = nodes.map(({ id, type }) => [
    printable(String(id)),
    printable(String(type)),
    cut([...(into.get(id) ?? [])].join(', '), NAME),
  ]);
  print([
    `${printable(name)}: ${nodes.length} nodes, ${edges.length} edges`,
    '',
    ...table(['NODE', 'TYPE', 'FROM'], rows),
  ]);
  return EXIT.ok;
}

export async function renameGraph(
  from: string,
  to: string,
  options: ServerChoice & { readonly overwrite?: boolean },
): Promise<number> {
  const body = { from, to, overwrite: options.overwrite ?? false };
  try {
    const saved = await apiOf(options).order((client, signal) => client.post('/api/graph/rename', { body, signal }));
    if (options.json) document(saved);
    else print([`${printable(from)} is ${printable(saved.name)} now`]);
    return EXIT.ok;
  } catch (error) {
    throw withOverwrite(error);
  }
}

export async function deleteGraph(name: string, options: ServerChoice): Promise<number> {
  const deleted = await apiOf(options).order((client, signal) =>
    client.delete('/api/graph/{name}', { path: { name }, signal }),
  );
  if (options.json) document(deleted);
  else print([`${printable(name)} deleted`]);
  return EXIT.ok;
}

/** Ends with 1 when the graph has problems. */
export async function validateGraph(file: string, options: ServerChoice): Promise<number> {
  const { graph } = await readGraph(file);
  const api = apiOf(options);
  const result = await api.order((client, signal) => client.post('/api/graph/validate', { body: { graph }, signal }));
  if (options.json) document(result);
  else {
    const warnings = result.warnings.map(({ message }) => `warning: ${printable(message)}`);
    const problems = result.issues.map(({ message }, index) => `  ${index + 1}. ${printable(message)}`);
    const many = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    print([...warnings, ...(result.valid ? ['validation OK'] : [`${many}:`, ...problems])]);
  }
  return result.valid ? EXIT.ok : EXIT.failed;
}

async function load(name: string, options: ServerChoice): Promise<unknown> {
  return apiOf(options).read((client, signal) => client.get('/api/graph/load/{name}', { path: { name }, signal }));
}

function withOverwrite(error: unknown): unknown {
  if (!(error instanceof Failure) || error.code !== 'graph_exists') return error;
  return new Failure(
    error.code,
    `${error.message}; --overwrite puts this one in its place`,
    error.exitCode,
    error.details,
  );
}
