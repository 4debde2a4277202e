import type { Tensor } from 'onnxruntime-node';
import {
  elements,
  inferModule,
  moduleWeights,
  RuntimeError,
  validateModule,
  type LayerWeight,
  type ModuleSpec,
  type ParamMeta,
  type TensorMeta,
} from '../runtime';
import type { Compiler } from './compiler';
import { Graph } from './graph/graph';
import type { Value } from './graph/value';
import { digest, keyOf, tensorKey } from './keys';
import type { TensorValue } from './objects';
import type { Generator } from './random';
import type { Compiled, SessionCache } from './sessions';
import { plain, produced, tapeInput, type ModuleRecord } from './tape';
import { checkMetas } from './eager';
import { dataOf, filled, metaOf, tensorOf } from './tensors';
import { drawUniforms, feedUniforms, UniformInputs } from './uniforms';

/** After so many passes with the same weights they are compiled into the graph, which is twice as fast and costs a compilation. */
const BAKE_AFTER = 4;
/** Larger weights are never compiled in: encoding and loading them would take longer than it saves. */
const BAKE_LIMIT_BYTES = 128 * 1024 * 1024;

/**
 * A module's weights. The tensors are never written to, only replaced, so a snapshot or a record shares them for nothing.
 */
export class ModuleValue {
  readonly kind = 'module';
  readonly names: readonly string[];
  readonly places: ReadonlyMap<string, number>;
  /** Places of the trainable ones. */
  readonly trainable: readonly number[];
  readonly bytes: number;
  /** Names the structure; equal for modules that compile to the same graphs. */
  readonly structure: string;
  /** Counts replacements of weights. */
  version = 0;
  /** The version whose values were last compiled into a graph. */
  bakedVersion = -1;
  private passes = { version: -1, count: 0 };

  constructor(
    readonly spec: ModuleSpec,
    readonly metas: readonly ParamMeta[],
    readonly tensors: Tensor[],
  ) {
    this.names = metas.map(({ name }) => name);
    this.places = new Map(this.names.map((name, at) => [name, at]));
    this.trainable = metas.flatMap(({ trainable }, at) => (trainable ? [at] : []));
    this.bytes = tensors.reduce((sum, tensor) => sum + dataOf(tensor).byteLength, 0);
    this.structure = digest(keyOf(spec));
  }

  place(name: string): number {
    const at = this.places.get(name);
    if (at === undefined) throw new RuntimeError('runtime_failed', `the module has no weight named ${name}`);
    return at;
  }

  /** Counts a pass in evaluation mode; true when the current weights have been used often enough to be compiled in. */
  countPass(): boolean {
    if (this.passes.version !== this.version) this.passes = { version: this.version, count: 0 };
    return ++this.passes.count > BAKE_AFTER && this.bytes <= BAKE_LIMIT_BYTES;
  }
}

/**
 * Builds a module and fills its weights as PyTorch does, in the order of its nodes.
 * @throws RuntimeError `invalid_argument` or `unsupported` naming the node
 */
export function createModule(spec: ModuleSpec, generator: Generator): ModuleValue {
  validateModule(spec);
  const weights = moduleWeights(spec);
  const metas = weights.map(({ name, shape, dtype, trainable }) => ({ name, shape, dtype, trainable }));
  return new ModuleValue(
    spec,
    metas,
    weights.map((weight) => initialise(weight, generator)),
  );
}

function initialise({ shape, dtype, init }: LayerWeight, generator: Generator): Tensor {
  switch (init.kind) {
    case 'zeros':
      return filled(dtype, shape, 0);
    case 'ones':
      return filled(dtype, shape, 1);
    case 'constant':
      return filled(dtype, shape, init.value);
    case 'uniform': {
      const data = new Float32Array(elements(shape));
      generator.uniform(data);
      for (let i = 0; i < data.length; i++) data[i] = (2 * data[i]! - 1) * init.bound;
      return tensorOf('float32', shape, data);
    }
    case 'normal': {
      const data = new Float32Array(elements(shape));
      generator.normal(data, 0, init.std);
      if (init.zeroRow !== undefined) {
        const row = data.length / shape[0]!;
        data.fill(0, init.zeroRow * row, (init.zeroRow + 1) * row);
      }
      return tensorOf('float32', shape, data);
    }
  }
}

export const weightInput = (name: string) => `weight:${name}`;

/** Declares the weights as graph inputs, or as constants with their current values. */
export function declareWeights(graph: Graph, module: ModuleValue, baked: boolean): Record<string, Value> {
  const values: Record<string, Value> = {};
  module.metas.forEach(({ name, shape, dtype }, at) => {
    values[name] = baked
      ? graph.constant(dtype, shape, dataOf(module.tensors[at]!))
      : graph.input(weightInput(name), shape, dtype);
  });
  return values;
}

export function feedWeights(feeds: Record<string, Tensor>, module: ModuleValue): void {
  const { names, tensors } = module;
  for (let at = 0; at < names.length; at++) feeds[weightInput(names[at]!)] = tensors[at]!;
}

interface ForwardInfo {
  readonly draws: readonly number[];
  /** [graph output, place of the weight] of buffers that the pass replaces. */
  readonly buffers: readonly (readonly [output: string, place: number])[];
}

export interface ForwardCall {
  readonly module: ModuleValue;
  readonly inputs: Readonly<Record<string, TensorValue>>;
  readonly mode: 'train' | 'eval';
  readonly grad: boolean;
  generator(): Generator;
}

/** Runs whole modules, each through one cached session per structure and shapes. */
export class ModuleForward {
  constructor(
    private readonly compiler: Compiler,
    private readonly sessions: SessionCache,
    private readonly check: boolean,
  ) {}

  async run(call: ForwardCall): Promise<Readonly<Record<string, TensorValue>>> {
    const { module, mode } = call;
    const { session, info } = await this.session(call);
    const feeds: Record<string, Tensor> = {};
    for (const port in call.inputs) feeds[`in:${port}`] = call.inputs[port]!.tensor;
    feedWeights(feeds, module);
    const draws = info.draws.length ? drawUniforms(info.draws, call.generator()) : [];
    feedUniforms(feeds, '', draws);
    const weights = call.grad ? module.tensors.slice() : [];
    const fetched = await session.run(feeds);
    for (const [output, place] of info.buffers) module.tensors[place] = fetched[output]!;
    if (info.buffers.length) module.version++;
    if (this.check) this.compare(call, fetched);
    const ports = module.spec.outputs.map(({ port }) => port);
    const inputs = module.spec.inputs.map((port) => call.inputs[port]!);
    const recorded = call.grad && (module.trainable.length > 0 || inputs.some((input) => input.origin !== null));
    const record: ModuleRecord | null = recorded
      ? { kind: 'module', module, mode, weights, inputs: inputs.map(tapeInput), draws }
      : null;
    return Object.fromEntries(
      ports.map((port, output) => {
        const tensor = fetched[`out:${port}`]!;
        return [port, record ? produced(tensor, record, output) : plain(tensor)];
      }),
    );
  }

  private async session(call: ForwardCall): Promise<Compiled<ForwardInfo>> {
    const { module, mode } = call;
    // A recorded pass is differentiated with the weights as inputs, so it runs that way as well.
    const baked = mode === 'eval' && !call.grad && module.countPass();
    let key = `forward|${module.structure}|${mode}`;
    for (const port of module.spec.inputs) key += `|${tensorKey(call.inputs[port]!.tensor)}`;
    if (baked) key = await bakedKey(this.sessions, module, key);
    const use = baked ? 'baked' : 'inference';
    const known = this.sessions.find<ForwardInfo>(use, key);
    if (known) return known;
    const graph = new Graph();
    const uniforms = new UniformInputs(graph);
    const inputs: Record<string, Value> = {};
    for (const port of module.spec.inputs) {
      const { shape, dtype } = metaOf(call.inputs[port]!.tensor);
      inputs[port] = graph.input(`in:${port}`, shape, dtype);
    }
    inferModule(module.spec, metasOf(call), mode);
    const emitted = this.compiler.emitModule(
      graph,
      module.spec,
      inputs,
      declareWeights(graph, module, baked),
      uniforms.context(mode),
    );
    const outputs: Record<string, Value> = {};
    for (const [port, value] of Object.entries(emitted.outputs)) outputs[`out:${port}`] = value;
    const buffers: [string, number][] = [];
    for (const [name, value] of Object.entries(mode === 'train' ? emitted.buffers : {})) {
      outputs[`buffer:${name}`] = value;
      buffers.push([`buffer:${name}`, module.place(name)]);
    }
    const { bytes } = this.compiler.encode(graph, outputs);
    return this.sessions.add<ForwardInfo>(use, key, bytes, { draws: uniforms.counts, buffers });
  }

  private compare(call: ForwardCall, fetched: Readonly<Record<string, Tensor>>): void {
    const wanted = inferModule(call.module.spec, metasOf(call), call.mode);
    for (const [port, meta] of Object.entries(wanted)) checkMetas(`output ${port}`, [fetched[`out:${port}`]!], [meta]);
  }
}

function metasOf(call: ForwardCall): Record<string, TensorMeta> {
  return Object.fromEntries(Object.entries(call.inputs).map(([port, { tensor }]) => [port, metaOf(tensor)]));
}

const identities = new WeakMap<ModuleValue, number>();
let nextIdentity = 1;

/** Names the values of a module's weights, as the beginning of a key. */
function bakedPrefix(module: ModuleValue): string {
  let identity = identities.get(module);
  if (identity === undefined) identities.set(module, (identity = nextIdentity++));
  return `${identity}@`;
}

/** The key of a graph that holds the module's current weights; graphs that hold older ones are released. */
export async function bakedKey(sessions: SessionCache, module: ModuleValue, key: string): Promise<string> {
  const prefix = bakedPrefix(module);
  const current = `${prefix}${module.version}|`;
  if (module.bakedVersion !== module.version) {
    module.bakedVersion = module.version;
    await sessions.retire('baked', (known) => known.startsWith(prefix) && !known.startsWith(current));
  }
  return current + key;
}
