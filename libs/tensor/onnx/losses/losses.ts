import { normaliseLoss, RuntimeError, type LossSpec, type NormalLoss } from '../../runtime';
import { broadcast, elements, promote } from '../../runtime/ops/meta';
import { differentiable } from '../grad/differentiable';
import { meta } from '../graph/data';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { abs, add, cast, div, exp, log, maximum, mul, neg, sigmoid, sub } from '../ops/elementwise';
import { sum } from '../ops/reduce';
import { expand } from '../ops/shape';
import { crossEntropy } from './cross-entropy';

type Reduction = NormalLoss['reduction'];

/**
 * The loss as PyTorch computes it.
 * @throws RuntimeError `invalid_argument` for a missing target, `unsupported` for a loss that is not there
 */
export function emitLoss(g: Graph, spec: LossSpec, output: Value, target: Value | null): Value {
  const loss = normaliseLoss(spec);
  if (!target) throw new RuntimeError('invalid_argument', `loss ${loss.type} needs a target`, { op: loss.type });
  switch (loss.type) {
    case 'CrossEntropy':
      return crossEntropy(g, output, target, loss);
    case 'MSE':
      return meanSquares(g, output, target, loss.reduction);
    case 'BCEWithLogits':
      return binaryCrossEntropy(g, output, target, loss);
  }
}

function reduce(g: Graph, each: Value, reduction: Reduction): Value {
  if (reduction === 'none') return each;
  const total = sum(
    g,
    each,
    each.shape.map((_, axis) => axis),
  );
  return reduction === 'sum' ? total : div(g, total, elements(each.shape));
}

/** Squared differences; their gradient is made in one pass, whatever the reduction. */
function meanSquares(g: Graph, output: Value, target: Value, reduction: Reduction): Value {
  const dtype = promote([meta(output), meta(target)]);
  const shape = broadcast(output.shape, target.shape);
  const [a, b] = [output, target].map((value) => expand(g, cast(g, value, dtype), shape)) as [Value, Value];
  const difference = sub(g, a, b);
  const squares = mul(g, difference, difference);
  const result = reduce(g, squares, reduction);
  const factor = reduction === 'mean' ? 2 / elements(shape) : 2;
  return differentiable(result, [a, b], (d) => {
    const gradient = mul(g, difference, mul(g, d, factor));
    return [gradient, () => neg(g, gradient)];
  });
}

type BinaryCrossEntropy = Extract<NormalLoss, { type: 'BCEWithLogits' }>;

/** (1 - t) x + (1 + (p - 1) t) log(1 + exp(-x)), by the form that does not overflow. */
function binaryCrossEntropy(g: Graph, x: Value, target: Value, loss: BinaryCrossEntropy): Value {
  const t = cast(g, target, x.dtype);
  const row = (values: readonly number[]) => g.numbers(x.dtype, [values.length], values);
  const softMinus = add(g, maximum(g, neg(g, x), 0), log(g, add(g, exp(g, neg(g, abs(g, x))), 1)));
  const rest = sub(g, 1, t);
  const factor = loss.posWeight ? add(g, mul(g, t, sub(g, row(loss.posWeight), 1)), 1) : null;
  const plain = add(g, mul(g, rest, x), factor ? mul(g, softMinus, factor) : softMinus);
  const each = differentiable(plain, [x, t], (d) => {
    // d softMinus / dx = sigmoid(x) - 1.
    const slope = sub(g, sigmoid(g, x), 1);
    const byTarget = () => {
      const pull = loss.posWeight ? mul(g, softMinus, sub(g, row(loss.posWeight), 1)) : null;
      return mul(g, d, pull ? sub(g, pull, x) : neg(g, x));
    };
    return [() => mul(g, d, add(g, rest, factor ? mul(g, slope, factor) : slope)), byTarget];
  });
  return reduce(g, loss.weight ? mul(g, each, row(loss.weight)) : each, loss.reduction);
}
