import type { Tensor } from 'onnxruntime-node';
import { RuntimeError } from '../runtime';
import type { EvaluatorWire } from '../runtime/wire';
import { countTargets, dataInput, emitBatch, fieldsOf, RowGatherer } from './batch';
import { Graph } from './graph/graph';
import type { Value } from './graph/value';
import { digest, keyOf, tensorKey } from './keys';
import { bakedKey, declareWeights, feedWeights, type ModuleValue } from './modules';
import { Generator } from './random';
import type { Compiled } from './sessions';
import { dataOf } from './tensors';
import type { TrainerParts } from './trainer';
import { drawUniforms, feedUniforms, UniformInputs } from './uniforms';

interface EvalInfo {
  readonly draws: readonly number[];
  readonly loss: boolean;
  readonly correct: boolean;
}

/** Losses and right answers of a module in evaluation mode, summed until they are collected. */
export class Evaluator {
  readonly kind = 'evaluator';
  private readonly fields: readonly string[];
  private readonly structure: string;
  private readonly rows = new RowGatherer();
  /** For ops that draw in evaluation mode too; evaluations repeat. */
  private readonly generator = new Generator(0);
  private losses: number[] = [];
  private correct = 0;
  private count = 0;

  constructor(
    private readonly parts: Omit<TrainerParts, 'now'>,
    private readonly wire: EvaluatorWire,
    private readonly module: ModuleValue,
  ) {
    if (wire.precision !== 'fp32') {
      throw new RuntimeError('unsupported', `precision ${wire.precision} is not available on this runtime: use fp32`);
    }
    const { loss, feed, accuracy } = wire;
    this.fields = fieldsOf(feed);
    this.structure = digest(keyOf([module.structure, { loss, feed, accuracy }]));
  }

  stepRows(from: Readonly<Record<string, Tensor>>, rows: Int32Array): Promise<void> {
    const batch: Record<string, Tensor> = {};
    for (const field of this.fields) batch[field] = this.rows.gather(field, this.field(from, field), rows);
    return this.step(batch);
  }

  async step(batch: Readonly<Record<string, Tensor>>): Promise<void> {
    const { session, info } = await this.session(batch);
    const feeds: Record<string, Tensor> = {};
    for (const field of this.fields) feeds[dataInput(field)] = this.field(batch, field);
    feedWeights(feeds, this.module);
    if (info.draws.length) feedUniforms(feeds, '', drawUniforms(info.draws, this.generator));
    const fetched = await session.run(feeds);
    if (info.loss) this.losses.push(Number(dataOf(fetched['loss']!)[0]));
    if (info.correct) this.correct += Number(dataOf(fetched['correct']!)[0]);
    const { target, inputs } = this.wire.feed;
    const counted = target ?? Object.values(inputs)[0];
    if (target !== undefined) this.count += countTargets(this.wire.loss, batch[target]!);
    else if (counted !== undefined) this.count += batch[counted]!.dims[0] ?? 1;
  }

  collect(): { losses: Float32Array; correct: number; count: number } {
    const { losses, correct, count } = this;
    this.losses = [];
    this.correct = 0;
    this.count = 0;
    return { losses: Float32Array.from(losses), correct, count };
  }

  private async session(batch: Readonly<Record<string, Tensor>>): Promise<Compiled<EvalInfo>> {
    const { module, wire } = this;
    const { compiler, sessions } = this.parts;
    const baked = module.countPass();
    let key = `eval|${this.structure}`;
    for (const field of this.fields) key += `|${tensorKey(this.field(batch, field))}`;
    if (baked) key = await bakedKey(sessions, module, key);
    const use = baked ? 'baked' : 'inference';
    const known = sessions.find<EvalInfo>(use, key);
    if (known) return known;
    const graph = new Graph();
    const uniforms = new UniformInputs(graph);
    const plan = {
      module,
      feed: wire.feed,
      accuracy: wire.accuracy ?? false,
      ...(wire.loss ? { loss: wire.loss } : {}),
    };
    const emitted = emitBatch(
      compiler,
      graph,
      plan,
      batch,
      declareWeights(graph, module, baked),
      uniforms.context('eval'),
    );
    const outputs: Record<string, Value> = {};
    if (emitted.loss) outputs['loss'] = emitted.loss;
    if (emitted.correct) outputs['correct'] = emitted.correct;
    if (!emitted.loss && !emitted.correct) {
      throw new RuntimeError(
        'invalid_argument',
        'the evaluator measures nothing: give it a loss, or accuracy with a target of classes',
      );
    }
    const { bytes } = compiler.encode(graph, outputs);
    const info = { draws: uniforms.counts, loss: emitted.loss !== null, correct: emitted.correct !== null };
    return sessions.add<EvalInfo>(use, key, bytes, info);
  }

  private field(fields: Readonly<Record<string, Tensor>>, field: string): Tensor {
    const tensor = fields[field];
    if (!tensor)
      throw new RuntimeError('invalid_argument', `the feed uses the batch field '${field}', which the batch lacks`);
    return tensor;
  }
}
