import { defineNode, interrupted, param } from '@cdui/node-sdk';
import { RuntimeError } from '@cdui/tensor/runtime';
import { sequentialBatches } from '../data/loader';
import { feedFor } from './feed';
import { deviceOf, deviceParam, precisionOf, precisionParam } from './run-options';

/** Accuracy of a classifier over a whole data set, in order, without gradients. */
export const evaluateModelNode = defineNode({
  name: 'EvaluateModel',
  category: 'Training',
  description: 'Counts how many rows of a data set a model classifies correctly.',
  inputs: { model: 'MODEL', dataset: 'DATASET' },
  outputs: { accuracy: ['SCALAR', '0 ... 1'], correct: 'SCALAR', total: 'SCALAR' },
  params: {
    batch_size: param.int(256, { min: 1, description: 'Rows per batch' }),
    device: deviceParam,
    precision: precisionParam,
  },
  cacheable: false,
  async execute(context, inputs, params) {
    const model = inputs.model('model');
    const dataset = inputs.dataset('dataset');
    if (!dataset.fields[1]) inputs.reject('dataset', 'a data set with labels');
    if (dataset.length === 0) inputs.reject('dataset', 'a data set with rows');
    deviceOf(context, params);
    const evaluator = context.scope.evaluator({
      module: model,
      feed: feedFor(model, dataset),
      precision: precisionOf(context, params).used,
      accuracy: true,
      signal: context.signal,
    });
    let done = 0;
    try {
      for (const rows of sequentialBatches(dataset.length, params.int('batch_size'))) {
        if (context.cancelled) break;
        try {
          await evaluator.step(dataset.batch(rows));
        } catch (error) {
          if (error instanceof RuntimeError && error.code === 'cancelled') break;
          throw error;
        }
        done += rows.length;
        await context.drained();
      }
      const { correct, count } = await evaluator.collect();
      const accuracy = count > 0 ? correct / count : 0;
      const outputs = { accuracy, correct, total: count };
      if (done < dataset.length) return interrupted(outputs, { phase: 'evaluation', rows: done });
      context.metric('eval_accuracy', accuracy, 1);
      return outputs;
    } finally {
      evaluator.close();
    }
  },
});
