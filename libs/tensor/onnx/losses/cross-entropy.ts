import type { NormalLoss } from '../../runtime';
import { isFloating } from '../graph/data';
import { elements } from '../../runtime/ops/meta';
import { differentiable } from '../grad/differentiable';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { add, cast, div, equal, logicalNot, mul, neg, where } from '../ops/elementwise';
import { fromZero, gather, scatterAdd } from '../ops/indexing';
import { logSoftmax, sum } from '../ops/reduce';
import { reshape, unsqueeze } from '../ops/shape';

type CrossEntropy = Extract<NormalLoss, { type: 'CrossEntropy' }>;

/** Cross-entropy of logits `[N, C, ...]` or `[C]` with class indices `[N, ...]` or class probabilities of the logits' shape. */
export function crossEntropy(g: Graph, logits: Value, target: Value, loss: CrossEntropy): Value {
  // A single sample: its class axis comes first.
  if (logits.shape.length === 1) {
    const one = (x: Value) => unsqueeze(g, x, 0);
    const result = crossEntropy(g, one(logits), one(target), loss);
    return reshape(g, result, []);
  }
  return isFloating(target.dtype) ? withProbabilities(g, logits, target, loss) : withIndices(g, logits, target, loss);
}

/** Class weights as a column that broadcasts over logits. */
function classColumn(g: Graph, weight: readonly number[], like: Value): Value {
  return g.numbers(
    like.dtype,
    like.shape.map((_, axis) => (axis === 1 ? weight.length : 1)),
    weight,
  );
}

/** With `mean` PyTorch divides by the number of samples here, weighted or not. */
function withProbabilities(g: Graph, logits: Value, target: Value, loss: CrossEntropy): Value {
  const classes = logits.shape[1]!;
  const smooth = loss.labelSmoothing;
  const goal =
    smooth > 0
      ? add(g, mul(g, cast(g, target, logits.dtype), 1 - smooth), smooth / classes)
      : cast(g, target, logits.dtype);
  const weighted = loss.weight ? mul(g, goal, classColumn(g, loss.weight, logits)) : goal;
  const each = neg(g, sum(g, mul(g, logSoftmax(g, logits, 1), weighted), [1]));
  if (loss.reduction === 'none') return each;
  const total = sum(
    g,
    each,
    each.shape.map((_, axis) => axis),
  );
  return loss.reduction === 'sum' ? total : div(g, total, elements(each.shape));
}

interface Targets {
  /** A valid class everywhere; those to be ignored are 0. `[N, 1, ...]`. */
  readonly index: Value;
  /** Weight of each place, 0 where ignored. `[N, 1, ...]`. */
  readonly factor: Value;
  /** 1, or 0 where ignored. */
  readonly counted: Value;
}

function readTargets(g: Graph, logits: Value, target: Value, loss: CrossEntropy): Targets {
  const wide = unsqueeze(g, target.dtype === 'uint8' ? cast(g, target, 'int64') : target, 1);
  const ignored = equal(g, wide, loss.ignoreIndex);
  const index = where(g, ignored, 0, fromZero(g, wide, logits.shape[1]!));
  const counted = cast(g, logicalNot(g, ignored), logits.dtype);
  if (!loss.weight) return { index, factor: counted, counted };
  const table = g.numbers(logits.dtype, [loss.weight.length], loss.weight);
  const weights = g.op1(
    'Gather',
    [table, index],
    { shape: index.shape, dtype: logits.dtype },
    { attributes: { axis: 0 } },
  );
  return { index, factor: mul(g, weights, counted), counted };
}

/** With `mean` PyTorch divides by the sum of the weights of the targets that count. */
function withIndices(g: Graph, logits: Value, target: Value, loss: CrossEntropy): Value {
  const { index, factor, counted } = readTargets(g, logits, target, loss);
  const logs = logSoftmax(g, logits, 1);
  const each =
    loss.labelSmoothing > 0 ? smoothed(g, logs, index, factor, counted, loss) : plain(g, logits, logs, index, factor);
  if (loss.reduction === 'none') return reshape(g, each, target.shape);
  const axes = each.shape.map((_, axis) => axis);
  const total = sum(g, each, axes);
  return loss.reduction === 'sum' ? total : div(g, total, sum(g, factor, axes));
}

/** -factor * log p(target), with the gradient factor * (p - one hot). `[N, 1, ...]`. */
function plain(g: Graph, logits: Value, logs: Value, index: Value, factor: Value): Value {
  const each = mul(g, gather(g, logs, index, 1), neg(g, factor));
  return differentiable(each, [logits], (d) => {
    const scale = mul(g, d, factor);
    const probabilities = g.op1('Exp', [logs], { shape: logs.shape, dtype: logs.dtype });
    return [() => scatterAdd(g, mul(g, probabilities, scale), index, neg(g, scale), 1)];
  });
}

/** A share of the loss goes to all classes alike, each by its weight. */
function smoothed(g: Graph, logs: Value, index: Value, factor: Value, counted: Value, loss: CrossEntropy): Value {
  const { labelSmoothing: smooth, weight } = loss;
  const direct = mul(g, neg(g, gather(g, logs, index, 1)), factor);
  const weighted = weight ? mul(g, logs, classColumn(g, weight, logs)) : logs;
  const spread = mul(g, neg(g, sum(g, weighted, [1], true)), counted);
  return add(g, mul(g, direct, 1 - smooth), mul(g, spread, smooth / logs.shape[1]!));
}
