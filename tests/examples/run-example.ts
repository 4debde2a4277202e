import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planGraph, runPlan, type EngineObserver, type RunPlanResult, type StatusReport } from '@cdui/engine';
import { builtinNodes, builtinPresets, createNodeRegistry, createPresetRegistry } from '@cdui/nodes';
import type { GraphFile, Params, PortFacts, RunFolders, RunOptions } from '@cdui/protocol';
import { openOnnxRuntime } from '@cdui/tensor/onnx';

const EXAMPLES = join(__dirname, '../../examples');

/** Node id -> params that replace those of the file. */
export type Changes = Readonly<Record<string, Params>>;

interface Artifact {
  readonly kind: string;
  readonly path: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface ExampleOptions {
  readonly changes?: Changes;
  readonly run?: RunOptions;
  /** Values for GraphInput nodes: the graph then runs as a function. */
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Looks at every progress frame; `true` stops the run. */
  readonly stopWhen?: (frame: Readonly<Record<string, unknown>>) => boolean;
}

export interface ExampleRun {
  readonly result: RunPlanResult;
  /** Value of a metric series at its last step. */
  metric(name: string): number | undefined;
  /** What a port carried when its node was done, or a gradient (`__weight_grad__...`). */
  port(node: string, port: string): PortFacts | undefined;
  readonly progress: readonly Readonly<Record<string, unknown>>[];
  readonly console: string;
  readonly artifacts: readonly Artifact[];
}

/** The graph of an example with some params changed. */
export function exampleGraph(name: string, changes: Changes = {}): GraphFile {
  const graph = JSON.parse(readFileSync(join(EXAMPLES, `${name}.graph.json`), 'utf8')) as GraphFile;
  const unknown = Object.keys(changes).filter((id) => !graph.nodes.some((node) => node.id === id));
  if (unknown.length > 0) throw new Error(`${name} has no node ${unknown.join(', ')}`);
  return {
    ...graph,
    nodes: graph.nodes.map((node) =>
      changes[node.id]
        ? { ...node, data: { ...node.data, params: { ...node.data?.params, ...changes[node.id] } } }
        : node,
    ),
  };
}

/** A place for what examples write, removed at the end. */
export class ExampleFolder {
  private readonly root = mkdtempSync(join(tmpdir(), 'cdui-examples-'));
  readonly folders: RunFolders = {
    data: this.root,
    models: this.folder('models'),
    images: this.folder('images'),
    files: this.folder('files'),
    graphs: this.folder('graphs'),
    datasets: this.folder('datasets'),
    output: this.folder('output'),
    customNodes: null,
    examples: EXAMPLES,
  };

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  private folder(name: string): string {
    const path = join(this.root, name);
    mkdirSync(path);
    return path;
  }
}

/**
 * Runs an example (or another graph) on the real engine and the embedded runtime, as an offline run does: settings of the file, no cache.
 * Throws when it fails, or when anything that it held is left.
 */
export async function runExample(
  example: string | GraphFile,
  folders: RunFolders,
  options: ExampleOptions = {},
): Promise<ExampleRun> {
  const graph = typeof example === 'string' ? exampleGraph(example, options.changes) : example;
  const registry = createNodeRegistry(builtinNodes);
  const presets = createPresetRegistry(builtinPresets, registry, () => undefined);
  const planned = planGraph(graph, { registry, presets, ...(options.inputs && { inputs: options.inputs }) });
  if ('issues' in planned) throw new Error(planned.issues.map(({ message }) => message).join('\n'));
  const stop = new AbortController();
  const observer = new Notes((frame) => {
    if (options.stopWhen?.(frame)) stop.abort('user');
  });
  const runtime = await openOnnxRuntime({ device: 'cpu', threads: 2 });
  try {
    const result = await runPlan({
      runId: 'example',
      plan: planned.plan,
      registry,
      presets,
      runtime,
      observer,
      options: { seed: graph.settings?.seed ?? null, ...options.run },
      folders,
      signal: stop.signal,
      asFunction: options.inputs !== undefined,
      sleep: () => Promise.resolve(),
    });
    if (result.status === 'failed') throw new Error(`${graph.name}: ${result.error}`);
    const { liveHandles } = await runtime.memory();
    if (liveHandles !== 0) throw new Error(`${graph.name} left ${liveHandles} handles`);
    return observer.summary(result);
  } finally {
    await runtime.close();
  }
}

class Notes implements EngineObserver {
  private readonly metrics = new Map<string, number>();
  private readonly ports = new Map<string, PortFacts>();
  private readonly progress: Readonly<Record<string, unknown>>[] = [];
  private readonly artifacts: Artifact[] = [];
  private text = '';

  constructor(private readonly onProgress: (frame: Readonly<Record<string, unknown>>) => void) {}

  status({ origin, ports, outputs }: StatusReport): boolean {
    for (const facts of ports ?? []) this.ports.set(`${origin.nodeId}.${facts.port}`, facts);
    for (const entry of outputs ?? []) {
      if (entry.output_kind !== 'progress') continue;
      this.progress.push(entry.progress);
      this.onProgress(entry.progress);
    }
    return true;
  }
  metric(_: unknown, name: string, value: number): boolean {
    this.metrics.set(name, value);
    return true;
  }
  artifact(_: unknown, kind: string, path: string, meta: Artifact['meta']): boolean {
    this.artifacts.push({ kind, path, meta });
    return true;
  }
  warning(): boolean {
    return true;
  }
  console(text: string): boolean {
    this.text += text;
    return true;
  }
  drained(): Promise<void> {
    return Promise.resolve();
  }

  summary(result: RunPlanResult): ExampleRun {
    return {
      result,
      metric: (name) => this.metrics.get(name),
      port: (node, port) => this.ports.get(`${node}.${port}`),
      progress: this.progress,
      console: this.text,
      artifacts: this.artifacts,
    };
  }
}
