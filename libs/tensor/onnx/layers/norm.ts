import type { BatchNormParams } from '../../runtime';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { add, mul } from '../ops/elementwise';
import { batchNorm, batchNormFixed, layerNorm } from '../ops/norm';
import type { LayerContext, LayerEmitters } from './emitters';

/** Batch statistics in training, which also move the running ones; the running ones in evaluation. */
function batchNormLayer(
  g: Graph,
  [x]: readonly [Value, ...Value[]],
  params: BatchNormParams,
  context: LayerContext,
): Value {
  const { eps, momentum } = params;
  const [weight, bias] = [context.weight('weight'), context.weight('bias')];
  const runningMean = context.required('running_mean');
  const runningVariance = context.required('running_var');
  if (context.mode === 'eval') return batchNormFixed(g, x, weight, bias, runningMean, runningVariance, eps);
  const { y, mean, variance, count } = batchNorm(g, x, weight, bias, eps);
  const moved = (running: Value, batch: Value, factor: number) =>
    add(g, mul(g, running, 1 - momentum), mul(g, batch, momentum * factor));
  context.update('running_mean', moved(runningMean, mean, 1));
  // The running variance is the unbiased one.
  context.update('running_var', moved(runningVariance, variance, count / (count - 1)));
  context.update('num_batches_tracked', add(g, context.required('num_batches_tracked'), 1));
  return y;
}

export const NORM_EMITTERS: LayerEmitters<'BatchNorm1d' | 'BatchNorm2d' | 'LayerNorm'> = {
  BatchNorm1d: batchNormLayer,
  BatchNorm2d: batchNormLayer,
  LayerNorm: (g, [x], { normalized_shape, eps }, context) =>
    layerNorm(g, x, normalized_shape, context.weight('weight'), context.weight('bias'), eps),
};
