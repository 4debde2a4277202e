import type { Tensor } from 'onnxruntime-node';
import { RuntimeError, type Hyper, type StepColumns } from '../runtime';
import type { TrainerWire } from '../runtime/wire';
import { countTargets, dataInput, emitBatch, fieldsOf, RowGatherer } from './batch';
import { StepLog } from './columns';
import type { Compiler } from './compiler';
import { Graph } from './graph/graph';
import type { Value } from './graph/value';
import { digest, keyOf, tensorKey } from './keys';
import { declareWeights, feedWeights, type ModuleValue } from './modules';
import type { OptimizerValue } from './optimizers';
import type { Generator } from './random';
import type { Compiled, SessionCache } from './sessions';
import { clipped, globalNorm, updateRatio } from './step-graph';
import { dataOf, scalarTensor } from './tensors';
import { feedUniforms, UniformInputs, UniformPool } from './uniforms';

/** A step's graph depends on whether it updates, whether gradients come in, and whether the loss is scaled. */
interface Variant {
  readonly apply: boolean;
  readonly incoming: boolean;
  readonly scaled: boolean;
}

type Target = readonly (readonly [output: string, place: number])[];

/** Where a step's outputs go. */
interface StepInfo {
  readonly draws: readonly number[];
  readonly weights: Target;
  readonly state: Target;
  /** Gathered gradients, by place of the weight. */
  readonly gradients: Target;
  readonly norms: boolean;
  readonly ratio: boolean;
  readonly correct: boolean;
}

export interface TrainerParts {
  readonly compiler: Compiler;
  readonly sessions: SessionCache;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
}

/**
 * Forward, loss, backward, clipping and update as one graph run. Weights and optimiser state are outputs of one step and inputs of
 * the next; losses and norms pile up in columns.
 */
export class Trainer {
  readonly kind = 'trainer';
  private readonly fields: readonly string[];
  private readonly structure: string;
  private readonly rows = new RowGatherer();
  private readonly pool: UniformPool;
  private readonly feeds: Record<string, Tensor> = {};
  /** Gradients gathered since the last update, by place of the weight. */
  private gathered: Map<number, Tensor> | null = null;
  private readonly log: StepLog;

  constructor(
    private readonly parts: TrainerParts,
    private readonly wire: TrainerWire,
    private readonly module: ModuleValue,
    private readonly optimizer: OptimizerValue,
    generator: Generator,
  ) {
    if (wire.precision !== 'fp32') {
      throw new RuntimeError('unsupported', `precision ${wire.precision} is not available on this runtime: use fp32`);
    }
    if (optimizer.module !== module) {
      throw new RuntimeError(
        'invalid_argument',
        "the optimizer belongs to another module: bind it to the trainer's first",
      );
    }
    const { loss, feed, clipGradNorm, observe = {} } = wire;
    this.fields = fieldsOf(feed);
    this.pool = new UniformPool(generator);
    this.structure = digest(keyOf([module.structure, optimizer.structure, { loss, feed, clipGradNorm, observe }]));
    this.log = new StepLog({
      gradNorm: observe.gradNorm ?? false,
      updateRatio: observe.updateRatio ?? false,
      accuracy: observe.accuracy ?? false,
    });
  }

  private get keyPrefix(): string {
    return `step|${this.structure}|`;
  }

  /** Releases the step's graphs: they hold as much memory as a step's activations take, and are made again in no time. */
  close(): Promise<void> {
    return this.parts.sessions.retire('training', (key) => key.startsWith(this.keyPrefix));
  }

  setHyper(hyper: Hyper): void {
    this.optimizer.setHyper(hyper);
  }

  discard(): void {
    this.gathered = null;
  }

  collect(): StepColumns {
    return this.log.take();
  }

  /** A step on rows of resident tensors. */
  stepRows(from: Readonly<Record<string, Tensor>>, rows: Int32Array, apply: boolean, scale: number): Promise<void> {
    const batch: Record<string, Tensor> = {};
    for (const field of this.fields) batch[field] = this.rows.gather(field, required(from, field), rows);
    return this.step(batch, apply, scale);
  }

  async step(batch: Readonly<Record<string, Tensor>>, apply: boolean, scale: number): Promise<void> {
    const began = this.parts.now();
    const { module, optimizer, feeds, fields } = this;
    const variant: Variant = { apply, incoming: this.gathered !== null, scaled: scale !== 1 };
    const { session, info } = await this.session(batch, variant);
    for (const field of fields) feeds[dataInput(field)] = required(batch, field);
    feedWeights(feeds, module);
    if (apply) this.feedOptimizer();
    if (variant.scaled) feeds[SCALE] = scalarTensor(scale);
    if (this.gathered) for (const [place, tensor] of this.gathered) feeds[gradientInput(module.names[place]!)] = tensor;
    if (info.draws.length) feedUniforms(feeds, '', this.pool.draw(info.draws));
    const fetched = await session.run(feeds);
    for (const [output, place] of info.weights) module.tensors[place] = fetched[output]!;
    for (const [output, place] of info.state) optimizer.tensors[place] = fetched[output]!;
    module.version++;
    if (apply) {
      optimizer.step++;
      this.gathered = null;
    } else this.gathered = new Map(info.gradients.map(([output, place]) => [place, fetched[output]!]));
    const { target } = this.wire.feed;
    this.log.add({
      loss: scalar(fetched, 'loss'),
      lr: optimizer.hyper.lr,
      gradNorm: info.norms ? scalar(fetched, 'norm') : NaN,
      gradNormClipped: info.norms ? scalar(fetched, 'clipped') : NaN,
      updateRatio: info.ratio ? scalar(fetched, 'ratio') : NaN,
      correct: info.correct ? Number(dataOf(fetched['correct']!)[0]) : 0,
      count: info.correct ? countTargets(this.wire.loss, batch[target!]!) : 0,
      seconds: (this.parts.now() - began) / 1000,
    });
  }

  private feedOptimizer(): void {
    const { feeds, optimizer } = this;
    const { slots, tensors, plan, step, hyper } = optimizer;
    for (let at = 0; at < slots.length; at++) feeds[slots[at]!.name] = tensors[at]!;
    const scalars = plan.scalars(step + 1, hyper);
    for (const name in scalars) feeds[name] = scalarTensor(scalars[name]!);
  }

  private async session(batch: Readonly<Record<string, Tensor>>, variant: Variant): Promise<Compiled<StepInfo>> {
    const { apply, incoming, scaled } = variant;
    let key = `${this.keyPrefix}${apply ? 'a' : ''}${incoming ? 'i' : ''}${scaled ? 's' : ''}`;
    for (const field of this.fields) key += `|${tensorKey(required(batch, field))}`;
    return this.parts.sessions.find<StepInfo>('training', key) ?? this.compile(key, batch, variant);
  }

  private async compile(
    key: string,
    batch: Readonly<Record<string, Tensor>>,
    variant: Variant,
  ): Promise<Compiled<StepInfo>> {
    const { module, optimizer, wire } = this;
    const { compiler, sessions } = this.parts;
    const observe = wire.observe ?? {};
    const graph = new Graph();
    const uniforms = new UniformInputs(graph);
    const weights = declareWeights(graph, module, false);
    const plan = { module, feed: wire.feed, loss: wire.loss, accuracy: observe.accuracy ?? false };
    const emitted = emitBatch(compiler, graph, plan, batch, weights, uniforms.context('train'));
    const loss = emitted.loss!;
    const places = module.trainable;
    const values = places.map((place) => weights[module.names[place]!]!);
    const raw = compiler.gradients(graph, loss, values, variant.scaled ? graph.input(SCALE, []) : undefined);
    // A parameter that the loss does not depend on is left alone, as PyTorch leaves one whose gradient is None.
    const used = places.flatMap((place, at) => {
      const gradient = raw[at];
      if (!gradient) return [];
      const name = module.names[place]!;
      return [{ place, name, value: values[at]!, gradient: variant.incoming ? sum(graph, gradient, name) : gradient }];
    });
    if (used.length === 0) {
      throw new RuntimeError(
        'invalid_argument',
        'the loss does not depend on any parameter of the module: nothing can be trained',
      );
    }
    const outputs: Record<string, Value> = { loss };
    const take = (prefix: string, entries: readonly (readonly [string, Value, number])[]): Target =>
      entries.map(([name, value, place]) => {
        outputs[prefix + name] = value;
        return [prefix + name, place] as const;
      });
    const buffers = take(
      'buffer:',
      Object.entries(emitted.buffers).map(([name, value]) => [name, value, module.place(name)]),
    );
    if (emitted.correct) outputs['correct'] = emitted.correct;
    const base = { draws: uniforms.counts, correct: emitted.correct !== null };
    if (!variant.apply) {
      const gradients = take(
        'gradient:',
        used.map(({ name, gradient, place }) => [name, gradient, place]),
      );
      const { bytes } = compiler.encode(graph, outputs);
      return sessions.add<StepInfo>('training', key, bytes, {
        ...base,
        weights: buffers,
        state: [],
        gradients,
        norms: false,
        ratio: false,
      });
    }
    const observed = observe.gradNorm ?? false;
    const clip = wire.clipGradNorm;
    let gradients = used.map(({ gradient }) => gradient);
    if (observed || clip !== undefined) {
      const norm = globalNorm(graph, gradients);
      const limited = clip === undefined ? { gradients, norm } : clipped(graph, gradients, norm, clip);
      gradients = limited.gradients;
      if (observed) Object.assign(outputs, { norm, clipped: limited.norm });
    }
    const updated = optimizer.plan.emit(graph, used, gradients);
    if (observe.updateRatio)
      outputs['ratio'] = updateRatio(
        graph,
        used.map(({ value }) => value),
        updated.parameters,
      );
    const parameters = take(
      'new:',
      used.map(({ name, place }, at) => [name, updated.parameters[at]!, place]),
    );
    const state = take(
      'state:',
      Object.entries(updated.state).map(([name, value]) => [name, value, optimizer.places.get(name)!]),
    );
    const { bytes } = compiler.encode(graph, outputs);
    return sessions.add<StepInfo>('training', key, bytes, {
      ...base,
      weights: [...buffers, ...parameters],
      state,
      gradients: [],
      norms: observed,
      ratio: observe.updateRatio ?? false,
    });
  }
}

const SCALE = 'scale';
const gradientInput = (name: string) => `gathered:${name}`;

function sum(graph: Graph, gradient: Value, name: string): Value {
  const { shape, dtype } = gradient;
  return graph.op1('Add', [graph.input(gradientInput(name), shape, dtype), gradient], { shape, dtype });
}

function required(fields: Readonly<Record<string, Tensor>>, field: string): Tensor {
  const tensor = fields[field];
  if (!tensor)
    throw new RuntimeError('invalid_argument', `the feed uses the batch field '${field}', which the batch lacks`);
  return tensor;
}

function scalar(fetched: Readonly<Record<string, Tensor>>, name: string): number {
  return Number(dataOf(fetched[name]!)[0]);
}
