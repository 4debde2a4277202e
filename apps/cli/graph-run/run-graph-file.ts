import { readFile } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { endNow } from '@cdui/host/end-now';
import { programRoot } from '@cdui/host/entry';
import type { GraphFile, RunOutcome } from '@cdui/protocol';
import { EXIT } from '../exit-codes';
import { runOptions } from './arguments';
import type { GraphRunArguments } from './arguments';
import { chooseFolders } from './folders';
import { onInterrupts } from './interrupts';
import { JsonView } from './json-view';
import { TextView } from './text-view';
import type { RunView } from './view';
import { viewSinks } from './view-sinks';

export interface GraphRun {
  readonly code: number;
  /** Null when nothing was executed. */
  readonly outcome: RunOutcome | null;
}

/** Runs a graph file as the arguments say and shows it. Returns the process's exit code. */
export async function runGraphFile(file: string, given: GraphRunArguments): Promise<number> {
  if (!given.json) {
    const view = new TextView({ screen: process.stdout, env: process.env, verbose: given.verbose ?? false });
    return (await runFile(file, given, view)).code;
  }
  // Standard output is for the document alone, whatever a custom node prints.
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const aside = (text: string): void => void process.stderr.write(text);
  const view = new JsonView((text) => void write(text), aside, given.validateOnly ?? false);
  return (await runFile(file, given, view)).code;
}

/** The same for callers with a view of their own. `change` may alter the graph that was read. */
export async function runFile(
  file: string,
  given: GraphRunArguments,
  view: RunView,
  change: (graph: GraphFile) => GraphFile = (graph) => graph,
): Promise<GraphRun> {
  const failed = (message: string): GraphRun => {
    view.failed(message);
    return { code: EXIT.failed, outcome: null };
  };
  const path = resolve(file);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    return failed(
      `cannot read ${path}: ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : String(error)}`,
    );
  }
  const runId = newRunId(new Date());
  const folders = chooseFolders(given, process.env, programRoot(), runId);
  // Node code and runtimes are loaded only now, so that help and mistakes cost nothing.
  const { checkGraph } = await import('@cdui/run-host/check-graph.js');
  const checked = checkGraph(text, { customNodes: folders.run.customNodes, presets: folders.presets }, given.input);
  for (const problem of checked.problems) view.notice(problem);
  const name = checked.graph?.name ?? basename(path, extname(path));
  view.checked(
    { file, name, nodes: checked.nodes, edges: checked.edges, planned: checked.planned },
    checked.issues,
    checked.warnings,
  );
  if (checked.graph === null || checked.issues.length > 0) return { code: EXIT.failed, outcome: null };
  if (given.validateOnly) return { code: EXIT.ok, outcome: null };
  try {
    const { makeFolder } = await import('@cdui/host/make-folder.js');
    const made = Object.values(folders.run).filter((folder) => folder && folder !== folders.run.examples);
    await Promise.all(made.map(makeFolder));
  } catch (error) {
    const way = 'name another with --data-dir, --output-dir or CODEFYUI_USER_DATA_DIR';
    return failed(`${error instanceof Error ? error.message : String(error)}; ${way}`);
  }
  return execute(change(checked.graph), given, folders, runId, view);
}

async function execute(
  graph: GraphFile,
  given: GraphRunArguments,
  folders: ReturnType<typeof chooseFolders>,
  runId: string,
  view: RunView,
): Promise<GraphRun> {
  const { InProcessExecutor } = await import('@cdui/run-host/client/index.js');
  const options = runOptions(given, graph.settings);
  const stop = new AbortController();
  const quiet = onInterrupts(
    () => {
      view.stopping();
      stop.abort('user');
    },
    () => void endNow(EXIT.interrupted),
  );
  const executor = new InProcessExecutor({ customNodes: folders.run.customNodes });
  try {
    const outcome = await executor.run({
      kind: 'start',
      runId,
      graph,
      options,
      placement: { worker: 'local', devices: [options.device ?? 'cpu'], slots: [] },
      folders: folders.run,
      sinks: viewSinks(view, runId),
      signal: stop.signal,
    });
    view.finished(outcome);
    return { code: codeOf(outcome, stop.signal.aborted), outcome };
  } catch (error) {
    view.failed(error instanceof Error ? (given.verbose && error.stack) || error.message : String(error));
    return { code: EXIT.failed, outcome: null };
  } finally {
    quiet();
    await executor.close();
  }
}

function codeOf({ status }: Pick<RunOutcome, 'status'>, stopped: boolean): number {
  if (status === 'succeeded') return EXIT.ok;
  return stopped ? EXIT.interrupted : EXIT.failed;
}

/** Sorts by time and is a file name: `run-20261129-230405`. */
function newRunId(now: Date): string {
  return `run-${now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}`;
}
