import { defineNode, param } from '@cdui/node-sdk';
import { ResidentDataset } from './resident-dataset';

/** A fixed window of rows as tensors: `start_index ... start_index + batch_size - 1`, modulo the length of the set. */
export const datasetBatchNode = defineNode({
  name: 'DatasetBatch',
  category: 'Data',
  description: 'Takes some neighbouring rows of a data set as tensors.',
  inputs: { dataset: 'DATASET' },
  outputs: {
    images: ['TENSOR', 'Inputs [B, ...]'],
    labels: ['TENSOR', 'Targets [B, ...]; nothing for a set without targets'],
  },
  params: {
    batch_size: param.int(1, { min: 1, description: 'Number of rows' }),
    start_index: param.int(0, { min: 0, description: 'First row' }),
  },
  execute({ scope }, inputs, params) {
    const dataset = inputs.dataset('dataset');
    if (!(dataset instanceof ResidentDataset) || dataset.length === 0)
      return inputs.reject('dataset', 'a data set with rows');
    const start = params.int('start_index');
    const count = params.int('batch_size');
    const indices = BigInt64Array.from({ length: count }, (_, i) => BigInt((start + i) % dataset.length));
    const rows = scope.upload({ shape: [count], dtype: 'int64', data: indices });
    const [images, labels] = dataset.fields.map(({ name }) => {
      const picked = scope.op('indexSelect', [dataset.field(name)!, rows], { dim: 0 });
      const affine = dataset.affine[name];
      return affine ? scope.op('affine', [picked], { ...affine, dtype: 'float32' }) : picked;
    });
    return { images, labels };
  },
});
