import { defineNode, param } from '@cdui/node-sdk';
import { Loader } from './loader';

const NO_EFFECT = 'Accepted for graphs made elsewhere; the rows already lie in the runtime, so it changes nothing';

/** Deals a data set out in batches. Each epoch has an order of its own, from one stream seeded for this node. */
export const dataLoaderNode = defineNode({
  name: 'DataLoader',
  category: 'Data',
  description: 'Deals a data set out in batches, shuffled if wished.',
  inputs: { dataset: 'DATASET' },
  outputs: { dataloader: 'DATALOADER' },
  params: {
    batch_size: param.int(32, { min: 1, description: 'Rows per batch' }),
    shuffle: param.bool(true, { description: 'A new order for every epoch' }),
    num_workers: param.int(0, { min: 0, description: NO_EFFECT, advanced: true }),
    pin_memory: param.bool(false, { description: NO_EFFECT, advanced: true }),
    drop_last: param.bool(false, { description: 'Leave out a last batch that is not full' }),
    persistent_workers: param.bool(false, { description: NO_EFFECT, advanced: true }),
    prefetch_factor: param.int(2, { description: NO_EFFECT, advanced: true }),
  },
  cacheable: false,
  execute(context, inputs, params) {
    const dataset = inputs.dataset('dataset');
    if (params.bool('persistent_workers') && params.int('num_workers') === 0) {
      params.reject('persistent_workers', 'needs num_workers of at least 1');
    }
    const loader = new Loader(
      dataset,
      params.int('batch_size'),
      params.bool('shuffle'),
      params.bool('drop_last'),
      context.seedFor(`dataloader:${context.nodeId}`),
    );
    if (loader.length === 0) {
      params.reject(
        'batch_size',
        `leaves no batch of the ${dataset.length} rows of ${dataset.name} (drop_last leaves out what is not full)`,
      );
    }
    return { dataloader: loader };
  },
});
