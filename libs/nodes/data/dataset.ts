import { defineNode, param } from '@cdui/node-sdk';
import {
  IMAGE_SET_NAMES,
  imageSetClasses,
  imageSetProblem,
  loadImageSplit,
  resolveDataDir,
  splitFiles,
  type SplitName,
} from './image-sets';
import { ResidentDataset, TO_TENSOR_NORMALIZED } from './resident-dataset';

const DEFAULT_DIR = './data';

/** Loads a standard image set: its bytes stay in the runtime, scaled to -1 ... 1 when they are used. */
export const datasetNode = defineNode({
  name: 'Dataset',
  category: 'Data',
  description: 'Loads a standard set of labelled images, scaled to -1 ... 1.',
  outputs: { dataset: ['DATASET', 'Images [1, H, W] and their classes'] },
  params: {
    name: param.select('MNIST', IMAGE_SET_NAMES, { description: 'Which set' }),
    split: param.select('train', ['train', 'test'], { description: 'Which part of it' }),
    data_dir: param.text(DEFAULT_DIR, {
      description: 'Folder of the files; a relative one lies in the folder of data sets',
    }),
    limit: param.int(0, {
      min: 0,
      description: 'Take only so many images, from the start; 0 takes all',
      advanced: true,
    }),
  },
  needs: { readsFiles: ['data_dir'] },
  check(params, nodeId) {
    const { name } = params;
    const problem = typeof name === 'string' ? imageSetProblem(name, text(params['data_dir'])) : null;
    return problem
      ? [{ message: problem.message, code: 'option_not_available', node_id: nodeId, params: problem.params }]
      : [];
  },
  files(params, folders) {
    const root = resolveDataDir(text(params['data_dir']), folders.datasets);
    const split: SplitName = params['split'] === 'test' ? 'test' : 'train';
    return splitFiles(String(params['name'] ?? 'MNIST'), split, root);
  },
  async execute(context, _inputs, params) {
    const name = params.text('name');
    const split = params.choice<SplitName>('split');
    const root = resolveDataDir(params.text('data_dir'), context.folders.datasets);
    const classes = imageSetClasses(name, root);
    const { count, height, width, images, labels } = await loadImageSplit(name, split, root, params.int('limit'));
    const raw = context.scope.upload({ shape: [count, 1, height, width], dtype: 'uint8', data: images });
    const target = context.scope.upload({ shape: [count], dtype: 'int64', data: BigInt64Array.from(labels, BigInt) });
    context.log(`${name}, ${split}: ${count} images of ${height} x ${width}`);
    const fields = [
      { name: 'image', tensor: raw, affine: TO_TENSOR_NORMALIZED },
      { name: 'label', tensor: target },
    ];
    return { dataset: new ResidentDataset(name, fields, classes, { tensor: raw }) };
  },
});

function text(value: unknown): string {
  return typeof value === 'string' ? value : DEFAULT_DIR;
}
