import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CollectingSinks } from '@cdui/execution/testing/collecting-sinks';
import type { ExecutionOutcome, ExecutionRequest } from '@cdui/execution';
import type { GraphFile, GraphNode, RunFolders, RunOptions } from '@cdui/protocol';
import type { InProcessExecutor } from '../client';

/** Folders of a run in a temporary place, with custom nodes that a test writes. */
export class Workplace {
  readonly folders: RunFolders;
  private readonly root = mkdtempSync(join(tmpdir(), 'run-host-'));

  constructor(customNodes: Readonly<Record<string, string>> = {}) {
    const folder = (name: string): string => {
      mkdirSync(join(this.root, name));
      return join(this.root, name);
    };
    this.folders = {
      data: this.root,
      models: folder('models'),
      images: folder('images'),
      files: folder('files'),
      graphs: folder('graphs'),
      datasets: folder('datasets'),
      output: folder('output'),
      customNodes: folder('custom_nodes'),
    };
    for (const [name, execute] of Object.entries(customNodes)) this.write(name, execute);
  }

  /** Writes a custom node, or another version of it. */
  write(name: string, execute: string): void {
    writeFileSync(join(this.root, 'custom_nodes', `${name}.js`), customNode(name, execute));
  }

  /** Runs a graph and collects what it reports. */
  async run(
    executor: InProcessExecutor,
    graph: GraphFile,
    {
      sinks = new CollectingSinks(),
      signal = new AbortController().signal,
      options = {},
      inputs,
    }: {
      readonly sinks?: CollectingSinks;
      readonly signal?: AbortSignal;
      readonly options?: RunOptions;
      readonly inputs?: Readonly<Record<string, unknown>>;
    } = {},
  ): Promise<{ readonly outcome: ExecutionOutcome; readonly sinks: CollectingSinks }> {
    const request: ExecutionRequest = {
      kind: 'start',
      runId: 'r1',
      graph,
      options,
      placement: { worker: 'local', devices: ['cpu'], slots: [] },
      folders: this.folders,
      ...(inputs && { inputs }),
      sinks,
      signal,
    };
    return { outcome: await executor.run(request), sinks };
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** A custom node module whose `execute(context, inputs, params)` has this body. */
function customNode(name: string, body: string): string {
  return `module.exports = (sdk) => ({
  name: '${name}', category: 'Test', description: '',
  inputs: { in: 'ANY?' }, outputs: { value: 'ANY' },
  params: { key: sdk.param.secret(), amount: sdk.param.int(0) },
  cacheable: true,
  async execute(context, inputs, params) { ${body} },
});\n`;
}

/** A graph of these nodes in a row, the first triggered. */
export function chain(...nodes: readonly (readonly [id: string, type: string, params?: GraphNodeParams])[]): GraphFile {
  const made: GraphNode[] = nodes.map(([id, type, params = {}]) => ({ id, type, data: { params } }));
  const edges = nodes.slice(1).map(([id], index) => ({
    source: nodes[index]?.[0] ?? '',
    sourceHandle: 'value',
    target: id,
    targetHandle: 'in',
  }));
  const trigger = { source: 'start', sourceHandle: 'trigger', target: nodes[0]?.[0] ?? '', type: 'trigger' };
  return { nodes: [{ id: 'start', type: 'Start' }, ...made], edges: [trigger, ...edges] };
}

type GraphNodeParams = Readonly<Record<string, unknown>>;

/** Resolves when the sinks hold what is asked for. Rejects when the run has ended without it. */
export async function until(sinks: CollectingSinks, holds: () => boolean, run: Promise<unknown>): Promise<void> {
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  run.then(end, end);
  while (!holds()) {
    if (ended) throw new Error(`The run ended before that: ${JSON.stringify([sinks.trail, sinks.text])}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
