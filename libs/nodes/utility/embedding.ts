import { defineNode, param } from '@cdui/node-sdk';
import { layerWeights, runLayer } from '../layer-module';

const NO_PADDING = -1;

export const embedding = defineNode({
  name: 'Embedding',
  category: 'Utility',
  description: 'Looks up a learnt vector for each index.',
  inputs: { tensor: ['TENSOR', 'Whole numbers (int64 or int32) from 0 on'] },
  outputs: { tensor: 'TENSOR' },
  params: {
    num_embeddings: param.int(10000, { description: 'How many indices there are' }),
    embedding_dim: param.int(256, { description: 'Length of a vector' }),
    padding_idx: param.int(-1, { description: 'Index whose vector stays zero; -1 for none' }),
  },
  cacheable: false,
  ownsWeights: true,
  execute(context, inputs, params) {
    const tensor = inputs.tensor('tensor');
    const padding = params.int('padding_idx');
    const structure = {
      num_embeddings: params.int('num_embeddings'),
      embedding_dim: params.int('embedding_dim'),
      padding_idx: padding === NO_PADDING ? null : padding,
    };
    const { module, outputs } = runLayer(
      context,
      { layer: 'Embedding', params: structure, inputs: ['x'], outputs: ['y'] },
      { x: tensor },
    );
    if (context.verbose) {
      context.step({
        name: 'look-up',
        description: 'Each index takes its row of the table',
        scalars: { num_embeddings: structure.num_embeddings, embedding_dim: structure.embedding_dim },
        tensors: { indices: tensor, ...layerWeights(context, module), output: outputs['y'] ?? tensor },
      });
    }
    return { tensor: outputs['y'] };
  },
});
