import { defineNode, param } from '@cdui/node-sdk';
import type { LossSpec } from '@cdui/tensor/runtime';

/** Names in graph files carry a suffix that the runtime's do not. */
export const LOSS_SUFFIX = 'Loss';
const TYPES = ['CrossEntropyLoss', 'MSELoss', 'BCEWithLogitsLoss'];

const WEIGHTED = ['CrossEntropyLoss', 'BCEWithLogitsLoss'];

/** A loss function with PyTorch's meaning and defaults. */
export const lossNode = defineNode({
  name: 'Loss',
  category: 'Training',
  description: 'Chooses the function that training makes small.',
  outputs: { loss_fn: 'LOSS_FN' },
  params: {
    type: param.select('CrossEntropyLoss', TYPES, { description: 'Which function' }),
    label_smoothing: param.float(0, {
      min: 0,
      max: 1,
      description: 'Share of each target that is spread over all classes',
      visibleWhen: { type: 'CrossEntropyLoss' },
      advanced: true,
    }),
    reduction: param.select('mean', ['mean', 'sum'], {
      description: 'How the rows of a batch are joined',
      advanced: true,
    }),
    weight: param.text('', {
      description: 'One weight per class, separated by commas',
      visibleWhen: { type: WEIGHTED },
      advanced: true,
    }),
    ignore_index: param.int(-100, {
      description: 'Class number that does not count',
      visibleWhen: { type: 'CrossEntropyLoss' },
      advanced: true,
    }),
    pos_weight: param.text('', {
      description: 'Weight of positive targets, one per output, separated by commas',
      visibleWhen: { type: 'BCEWithLogitsLoss' },
      advanced: true,
    }),
  },
  execute(_context, _inputs, params) {
    const type = params.choice('type');
    const only = (name: string, types: readonly string[]): void => {
      if (!types.includes(type)) params.reject(name, `applies to ${types.join(' and ')} only: leave it at its default`);
    };
    const labelSmoothing = params.float('label_smoothing');
    if (labelSmoothing !== 0) only('label_smoothing', ['CrossEntropyLoss']);
    const ignoreIndex = params.int('ignore_index');
    if (ignoreIndex !== -100) only('ignore_index', ['CrossEntropyLoss']);
    const weight = params.floats('weight');
    if (weight.length > 0) only('weight', WEIGHTED);
    const posWeight = params.floats('pos_weight');
    if (posWeight.length > 0) only('pos_weight', ['BCEWithLogitsLoss']);
    const spec: LossSpec = {
      type: type.slice(0, -LOSS_SUFFIX.length) as LossSpec['type'],
      reduction: params.choice<'mean' | 'sum'>('reduction'),
      ...(labelSmoothing !== 0 && { labelSmoothing }),
      ...(ignoreIndex !== -100 && { ignoreIndex }),
      ...(weight.length > 0 && { weight }),
      ...(posWeight.length > 0 && { posWeight }),
    };
    return { loss_fn: { kind: 'loss', spec } };
  },
});
