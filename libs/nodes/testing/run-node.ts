import type { NodeContext, NodeRegistry, NodeResult, PortValue, TraceStep, WeightStore } from '@cdui/node-sdk';
import { isList, isRecord, isTensor } from '@cdui/node-sdk';
import type { OutputEntry, Params, RunFolders, WarningPayload } from '@cdui/protocol';
import { openOnnxRuntime } from '@cdui/tensor/onnx';
import type { DType, ModuleRef, Scope, Shape, TensorRef, TensorRuntime } from '@cdui/tensor/runtime';
import { builtinNodes } from '../builtin-nodes';
import { flattenGrid, hostTensor, nested, numbersOf } from '../host-values';
import { createNodeRegistry } from '../registry';

/** A tensor as a test writes it: nested lists, or a lone number. */
export class TensorLiteral {
  constructor(
    readonly grid: unknown,
    readonly dtype: DType,
    readonly requiresGrad: boolean,
  ) {}
}

export function tensor(grid: unknown, dtype: DType = 'float32', requiresGrad = false): PortValue {
  return new TensorLiteral(grid, dtype, requiresGrad) as unknown as PortValue;
}

/** A tensor that came out, read back. */
export interface TensorResult {
  readonly shape: Shape;
  readonly dtype: DType;
  /** Nested lists; numbers for every dtype. */
  readonly values: unknown;
}

export interface NodeCase {
  readonly inputs?: Readonly<Record<string, PortValue>>;
  readonly params?: Params;
  readonly seed?: number;
  readonly verbose?: boolean;
  readonly deterministic?: boolean;
  readonly recordGradients?: boolean;
  readonly weights?: WeightStore;
  readonly folders?: Partial<RunFolders>;
  readonly runPreset?: NodeContext['runPreset'];
  /** Called before what the node made is freed. */
  readonly inspect?: (scope: Scope, result: NodeResult) => Promise<void> | void;
}

/** One point of a series that a node recorded. */
export interface Metric {
  readonly name: string;
  readonly value: number;
  readonly step: number;
}

/** What a node reported, in order. */
interface Recorded {
  readonly log: string[];
  readonly entries: OutputEntry[];
  readonly metrics: Metric[];
  readonly warnings: WarningPayload[];
  readonly steps: TraceStep[];
}

export interface NodeReport {
  /** Tensors as `TensorResult`, models as a word, everything else as it is. */
  readonly outputs: Readonly<Record<string, unknown>>;
  readonly log: readonly string[];
  readonly entries: readonly OutputEntry[];
  readonly metrics: readonly Metric[];
  readonly warnings: readonly WarningPayload[];
  readonly steps: readonly {
    readonly name: string;
    readonly scalars: TraceStep['scalars'];
    readonly tensors: Readonly<Record<string, TensorResult>>;
  }[];
}

/** Runs single built-in nodes on the embedded runtime, as the engine would, and reads back what they give. */
export class NodeRunner {
  private constructor(
    private readonly runtime: TensorRuntime,
    private readonly registry: NodeRegistry,
  ) {}

  static async open(registry: NodeRegistry = createNodeRegistry(builtinNodes)): Promise<NodeRunner> {
    return new NodeRunner(await openOnnxRuntime({ device: 'cpu', threads: 1 }), registry);
  }

  close(): Promise<void> {
    return this.runtime.close();
  }

  async liveHandles(): Promise<number> {
    return (await this.runtime.memory()).liveHandles;
  }

  async runNode(type: string, options: NodeCase = {}): Promise<NodeReport> {
    const node = this.registry.get(type);
    if (!node) throw new Error(`There is no node type ${type}`);
    const scope = this.runtime.openScope({
      label: type,
      ...(options.seed !== undefined && { seed: options.seed }),
      recordGradients: options.recordGradients ?? false,
    });
    try {
      const record: Recorded = { log: [], entries: [], metrics: [], warnings: [], steps: [] };
      const context = contextOf(type, this.runtime, scope, options, record);
      const inputs = Object.fromEntries(
        Object.entries(options.inputs ?? {}).map(([port, value]) => [port, uploaded(scope, value)]),
      );
      const result = await node.execute(context, inputs, { ...defaultsOf(node.definition.params), ...options.params });
      await options.inspect?.(scope, result);
      const outputs: Record<string, unknown> = {};
      for (const [port, value] of Object.entries(result.outputs)) outputs[port] = await readBack(scope, value);
      const steps = [];
      for (const { name, scalars, tensors } of record.steps) {
        const read: Record<string, TensorResult> = {};
        for (const [key, ref] of Object.entries(tensors ?? {})) read[key] = await readTensor(scope, ref);
        steps.push({ name, scalars, tensors: read });
      }
      await scope.settle();
      const { log, entries, metrics, warnings } = record;
      return { outputs, log, entries, metrics, warnings, steps };
    } finally {
      scope.close();
    }
  }
}

/** Keeps modules in memory, as a canvas session does. */
export class MemoryWeights implements WeightStore {
  readonly modules = new Map<string, ModuleRef>();
  find(structure: string): ModuleRef | null {
    return this.modules.get(structure) ?? null;
  }
  keep(structure: string, module: ModuleRef): void {
    this.modules.set(structure, module.retain());
  }
  close(): void {
    for (const module of this.modules.values()) module.release();
    this.modules.clear();
  }
}

function defaultsOf(params: readonly { readonly name: string; readonly default: unknown }[]): Params {
  return Object.fromEntries(params.map((param) => [param.name, param.default]));
}

function contextOf(
  type: string,
  runtime: TensorRuntime,
  scope: Scope,
  options: NodeCase,
  record: Recorded,
): NodeContext {
  const folder = '/nonexistent';
  return {
    nodeId: `${type.toLowerCase()}_1`,
    runId: 'run-1',
    runtime,
    scope,
    device: 'cpu',
    seed: options.seed ?? null,
    seedFor: () => options.seed ?? null,
    deterministic: options.deterministic ?? false,
    verbose: options.verbose ?? false,
    recordGradients: options.recordGradients ?? false,
    folders: {
      data: folder,
      models: folder,
      images: folder,
      files: folder,
      graphs: folder,
      datasets: folder,
      output: folder,
      customNodes: null,
      ...options.folders,
    },
    cancelled: false,
    signal: new AbortController().signal,
    weights: options.weights ?? null,
    recordsArtifacts: false,
    log: (text) => void record.log.push(text),
    progress: () => undefined,
    metric: (name, value, step) => void record.metrics.push({ name, value, step }),
    artifact: () => undefined,
    warn: (warning) => void record.warnings.push(warning),
    output: (entry) => void record.entries.push(entry),
    step: (step) => void record.steps.push(step),
    drained: () => Promise.resolve(),
    runPreset: options.runPreset ?? (() => Promise.reject(new Error('there are no presets here'))),
  };
}

function uploaded(scope: Scope, value: PortValue): PortValue {
  if ((value as unknown) instanceof TensorLiteral) {
    const { grid, dtype, requiresGrad } = value as unknown as TensorLiteral;
    const flat = flattenGrid(grid);
    if (!flat) throw new Error('A tensor literal must be nested lists of equal length');
    return scope.upload(hostTensor(flat.shape, dtype, flat.values), { requiresGrad });
  }
  return isList(value) ? value.map((item) => uploaded(scope, item)) : value;
}

async function readBack(scope: Scope, value: PortValue): Promise<unknown> {
  if (isTensor(value)) return readTensor(scope, value);
  if (isList(value)) return Promise.all(value.map((item) => readBack(scope, item)));
  if (isRecord(value)) {
    const members = Object.entries(value).map(async ([key, item]) => [key, await readBack(scope, item)] as const);
    return Object.fromEntries(await Promise.all(members));
  }
  return value;
}

async function readTensor(scope: Scope, ref: TensorRef): Promise<TensorResult> {
  const host = await scope.read(ref);
  return { shape: [...ref.shape], dtype: ref.dtype, values: nested(numbersOf(host), ref.shape) };
}
