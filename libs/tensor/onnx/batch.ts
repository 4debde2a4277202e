import type { Tensor } from 'onnxruntime-node';
import {
  elements,
  isFloat,
  normaliseLoss,
  RuntimeError,
  showShape,
  type DType,
  type Feed,
  type LossSpec,
  type NormalLoss,
  type Shape,
  type TensorMeta,
} from '../runtime';
import type { Compiler, EmitContext } from './compiler';
import type { Graph } from './graph/graph';
import type { Value } from './graph/value';
import type { ModuleValue } from './modules';
import { dataOf, newData, tensorOf, type DataArray } from './tensors';

export const dataInput = (field: string) => `data:${field}`;

/** What a step reads and compares: shared by training and evaluation. */
export interface BatchPlan {
  readonly module: ModuleValue;
  readonly feed: Feed;
  readonly loss?: LossSpec;
  readonly accuracy: boolean;
}

export interface EmittedBatch {
  readonly loss: Value | null;
  /** How many targets the output names rightly, int64; null where the loss knows no right and wrong. */
  readonly correct: Value | null;
  readonly buffers: Readonly<Record<string, Value>>;
}

/** The batch fields that a feed uses. */
export function fieldsOf(feed: Feed): readonly string[] {
  const inputs = Object.values(feed.inputs);
  return [...new Set(feed.target === undefined ? inputs : [...inputs, feed.target])];
}

/** Emits scaling, module, loss and the count of right answers over graph inputs named after the batch fields. */
export function emitBatch(
  compiler: Compiler,
  graph: Graph,
  plan: BatchPlan,
  fields: Readonly<Record<string, Tensor>>,
  weights: Readonly<Record<string, Value>>,
  context: EmitContext,
): EmittedBatch {
  const { module, feed } = plan;
  const field = (name: string): Value => {
    const { dims, type } = fields[name]!;
    const raw = graph.input(dataInput(name), dims, type as DType);
    const affine = feed.affine?.[name];
    if (!affine) return raw;
    return compiler.emitOp(graph, 'affine', [raw], { ...affine, dtype: 'float32' }, context)[0]!;
  };
  const inputs = Object.fromEntries(Object.entries(feed.inputs).map(([port, name]) => [port, field(name)]));
  const { outputs, buffers } = compiler.emitModule(graph, module.spec, inputs, weights, context);
  const output = outputs[feed.output ?? Object.keys(outputs)[0]!];
  if (!output) throw new RuntimeError('invalid_argument', `the module has no output named '${feed.output}'`);
  const target = feed.target === undefined ? null : widened(compiler, graph, field(feed.target), context);
  const loss = plan.loss ? compiler.emitLoss(graph, plan.loss, output, target) : null;
  const correct = plan.accuracy && target ? emitCorrect(compiler, graph, plan.loss, output, target, context) : null;
  return { loss, correct, buffers };
}

/** Labels kept as bytes become int32, which every loss takes. */
function widened(compiler: Compiler, graph: Graph, target: Value, context: EmitContext): Value {
  if (target.dtype !== 'uint8') return target;
  return compiler.emitOp(graph, 'cast', [target], { dtype: 'int32' }, context)[0]!;
}

type Answer = 'class' | 'threshold' | null;

/** How an output answers: by its largest entry along the class axis, or by its sign. */
function answerOf(loss: NormalLoss | null, output: TensorMeta, target: TensorMeta): Answer {
  if (loss?.type === 'CrossEntropy') return 'class';
  if (loss?.type === 'BCEWithLogits') return 'threshold';
  const classes = loss === null && !isFloat(target.dtype) && output.shape.length === target.shape.length + 1;
  return classes ? 'class' : null;
}

function emitCorrect(
  compiler: Compiler,
  graph: Graph,
  spec: LossSpec | undefined,
  output: Value,
  target: Value,
  context: EmitContext,
): Value | null {
  const op = (name: Parameters<Compiler['emitOp']>[1], inputs: readonly Value[], attrs: unknown) =>
    compiler.emitOp(graph, name, inputs, attrs, context)[0]!;
  const answer = answerOf(spec ? normaliseLoss(spec) : null, output as TensorMeta, target as TensorMeta);
  if (answer === null) return null;
  const dim = output.shape.length > 1 ? 1 : 0;
  const floats = isFloat(target.dtype as DType);
  const hits =
    answer === 'class'
      ? op(
          'equal',
          [
            op('argmax', [output], { dim, keepdim: false }),
            floats ? op('argmax', [target], { dim, keepdim: false }) : op('cast', [target], { dtype: 'int64' }),
          ],
          {},
        )
      : op('equal', [op('greater', [output, graph.scalar(0)], {}), op('greater', [target, graph.scalar(0.5)], {})], {});
  const all = hits.shape.map((_, axis) => axis);
  const ones = op('cast', [hits], { dtype: 'int64' });
  return all.length ? op('sum', [ones], { dim: all, keepdim: false }) : ones;
}

/** How many targets a batch has, those that the loss ignores left out. */
export function countTargets(loss: LossSpec | undefined, target: Tensor): number {
  const total = elements(target.dims);
  if (loss?.type !== 'CrossEntropy') return total;
  const data = dataOf(target);
  if (isFloat(target.type as DType)) {
    // Class probabilities: one answer per distribution.
    const classes = target.dims[target.dims.length > 1 ? 1 : 0]!;
    return classes ? total / classes : 0;
  }
  const ignored = loss.ignoreIndex ?? -100;
  let count = 0;
  if (data instanceof BigInt64Array) {
    const whole = BigInt(ignored);
    for (let i = 0; i < data.length; i++) if (data[i] !== whole) count++;
  } else for (let i = 0; i < data.length; i++) if (data[i] !== ignored) count++;
  return count;
}

/** Picks rows of resident tensors into memory that it reuses from step to step. */
export class RowGatherer {
  private readonly held = new Map<string, Tensor>();

  /** The rows of `from`; the result is valid until the next call for the same field and count. */
  gather(field: string, from: Tensor, rows: Int32Array): Tensor {
    const { dims, type } = from;
    if (dims.length === 0)
      throw new RuntimeError('invalid_argument', `batch field '${field}' has no rows: it is a tensor of no dimensions`);
    const shape = [rows.length, ...dims.slice(1)];
    const key = `${field}|${type}|${shape.join('x')}`;
    let tensor = this.held.get(key);
    if (!tensor) {
      // A last short batch and an odd size now and then: no more than a few at a time.
      if (this.held.size >= 16) this.held.clear();
      tensor = tensorOf(type as DType, shape, newData(type as DType, elements(shape)));
      this.held.set(key, tensor);
    }
    copyRows(dataOf(from), dataOf(tensor), rows, dims, field);
    return tensor;
  }
}

function copyRows(source: DataArray, out: DataArray, rows: Int32Array, dims: Shape, field: string): void {
  const count = dims[0]!;
  const width = count ? source.length / count : 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    if (row < 0 || row >= count) {
      throw new RuntimeError(
        'invalid_argument',
        `row ${row} is out of range for the batch field '${field}' of shape ${showShape(dims)}`,
      );
    }
    if (width === 1) out[i] = source[row]!;
    else out.set(source.subarray(row * width, (row + 1) * width) as never, i * width);
  }
}
