import { int, invalid, num, numberList, oneOf, optional, readFields, unsupported, type Schema } from './fields';
import { isFloat, mismatch, promote, requireFloat, showShape, broadcast } from './ops/meta';
import type { LossSpec, TensorMeta } from './vocabulary';

/** A loss with every default filled; `weight` and `posWeight` only where given. */
export type NormalLoss =
  | {
      readonly type: 'CrossEntropy';
      readonly reduction: 'mean' | 'sum' | 'none';
      readonly labelSmoothing: number;
      readonly ignoreIndex: number;
      readonly weight?: readonly number[];
    }
  | { readonly type: 'MSE'; readonly reduction: 'mean' | 'sum' | 'none' }
  | {
      readonly type: 'BCEWithLogits';
      readonly reduction: 'mean' | 'sum' | 'none';
      readonly weight?: readonly number[];
      readonly posWeight?: readonly number[];
    };

const LATER: readonly string[] = ['L1', 'SmoothL1', 'NLL', 'KLDiv', 'Huber', 'BCE', 'MarginRanking', 'CosineEmbedding'];
const reduction = oneOf(['mean', 'sum', 'none'], 'mean');
const weights = optional(numberList({ min: 0 }));
const SCHEMAS = {
  CrossEntropy: {
    reduction,
    labelSmoothing: num({ min: 0, max: 1, default: 0 }),
    ignoreIndex: int({ default: -100 }),
    weight: weights,
  },
  MSE: { reduction },
  BCEWithLogits: { reduction, weight: weights, posWeight: weights },
} satisfies Readonly<Record<string, Schema>>;
const ARGUMENTS = ['reduction', 'labelSmoothing', 'ignoreIndex', 'weight', 'posWeight'];

/**
 * Fills PyTorch's defaults and refuses each argument where it does not apply.
 * @throws RuntimeError `unsupported` for a known loss that is not there, `invalid_argument` for anything else
 */
export function normaliseLoss(spec: LossSpec): NormalLoss {
  const { type, ...given } = spec;
  const rest: Readonly<Record<string, unknown>> = given;
  if (LATER.includes(type)) {
    throw unsupported(`loss ${type} is not available; available: ${Object.keys(SCHEMAS).join(', ')}`);
  }
  if (!Object.hasOwn(SCHEMAS, type)) {
    throw invalid(`unknown loss '${String(type)}'; known: ${Object.keys(SCHEMAS).join(', ')}`);
  }
  const known = type as keyof typeof SCHEMAS;
  for (const name of Object.keys(rest)) {
    if (rest[name] !== undefined && ARGUMENTS.includes(name) && !Object.hasOwn(SCHEMAS[known], name)) {
      throw invalid(`argument ${name} does not apply to the loss ${type}: remove it`);
    }
  }
  const read = Object.entries(readFields<Schema>(SCHEMAS[known], rest, type)).filter(
    ([, value]) => value !== undefined,
  );
  return { type: known, ...Object.fromEntries(read) } as unknown as NormalLoss;
}

function scalarOr(loss: NormalLoss, shape: readonly number[], dtype: TensorMeta['dtype']): readonly TensorMeta[] {
  return [{ shape: loss.reduction === 'none' ? shape : [], dtype }];
}

function crossEntropy(output: TensorMeta, target: TensorMeta, loss: Extract<NormalLoss, { type: 'CrossEntropy' }>) {
  requireFloat(output, 'CrossEntropy');
  const { shape } = output;
  if (shape.length === 0)
    throw mismatch('CrossEntropy needs logits [classes] or [N, classes, ...], got a tensor of no dimensions');
  const classAxis = shape.length === 1 ? 0 : 1;
  const classes = shape[classAxis]!;
  const perElement = shape.filter((_, at) => at !== classAxis);
  if (loss.weight && loss.weight.length !== classes) {
    throw mismatch(
      `CrossEntropy: weight tensor should be defined either for all ${classes} classes or no classes but got ${loss.weight.length} weights`,
    );
  }
  if (isFloat(target.dtype)) {
    if (showShape(target.shape) !== showShape(shape)) {
      throw mismatch(
        `CrossEntropy with class probabilities needs a target of the input's size ${showShape(shape)}, got ${showShape(target.shape)}; ` +
          'class indices must be integers',
      );
    }
    return scalarOr(loss, perElement, output.dtype);
  }
  if (target.dtype === 'bool') throw invalid('CrossEntropy: expected class indices of an integer dtype, got bool');
  if (shape.length > 1 && target.shape.length > 0 && shape[0] !== target.shape[0]) {
    throw mismatch(`Expected input batch_size (${shape[0]}) to match target batch_size (${target.shape[0]}).`);
  }
  if (showShape(target.shape) !== showShape(perElement)) {
    throw mismatch(
      `Expected target size ${showShape(perElement)}, got ${showShape(target.shape)} (logits ${showShape(shape)})`,
    );
  }
  return scalarOr(loss, perElement, output.dtype);
}

function together(output: TensorMeta, target: TensorMeta): readonly number[] {
  try {
    return broadcast(output.shape, target.shape);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw mismatch(
      `MSE compares the output ${showShape(output.shape)} with the target ${showShape(target.shape)} element by element. ${reason}`,
    );
  }
}

/** Shape and dtype of the loss of `inputs` = output and target; throws `shape_mismatch` in PyTorch's terms. */
export function inferLoss(inputs: readonly TensorMeta[], spec: LossSpec): readonly TensorMeta[] {
  const loss = normaliseLoss(spec);
  const [output, target] = inputs;
  if (!output || !target) {
    throw invalid(
      `loss ${loss.type} needs an output and a target, got ${inputs.length} tensor${inputs.length === 1 ? '' : 's'}`,
    );
  }
  if (loss.type === 'CrossEntropy') return crossEntropy(output, target, loss);
  requireFloat(output, loss.type);
  if (loss.type === 'MSE') return scalarOr(loss, together(output, target), promote([output, target]));
  requireFloat(target, 'the target of BCEWithLogits');
  if (showShape(output.shape) !== showShape(target.shape)) {
    throw mismatch(
      `Target size (${showShape(target.shape)}) must be the same as input size (${showShape(output.shape)})`,
    );
  }
  for (const given of [loss.weight, loss.posWeight]) if (given) broadcast(output.shape, [given.length]);
  return scalarOr(loss, output.shape, output.dtype);
}
