import { defineNode, param } from '@cdui/node-sdk';
import { layerWeights, runLayer } from '../layer-module';

export const multiHeadAttention = defineNode({
  name: 'MultiHeadAttention',
  category: 'Transformer',
  description: 'Lets each position of the query gather from the values whose keys match it, in several heads.',
  inputs: {
    query: ['TENSOR', 'Sequence first: [L, N, E]'],
    key: ['TENSOR', '[S, N, E]'],
    value: ['TENSOR', '[S, N, E]'],
  },
  outputs: { output: ['TENSOR', '[L, N, E]'], weights: ['TENSOR', 'Mean over the heads: [N, L, S]'] },
  params: {
    embed_dim: param.int(512, { description: 'Size E of a position' }),
    num_heads: param.int(8, { description: 'Must divide the size' }),
  },
  cacheable: false,
  ownsWeights: true,
  execute(context, inputs, params) {
    const [query, key, value] = [inputs.tensor('query'), inputs.tensor('key'), inputs.tensor('value')];
    const structure = { embed_dim: params.int('embed_dim'), num_heads: params.int('num_heads') };
    const { module, outputs } = runLayer(
      context,
      {
        layer: 'MultiHeadAttention',
        params: { ...structure, batch_first: false },
        inputs: ['query', 'key', 'value'],
        outputs: ['output', 'weights'],
      },
      { query, key, value },
    );
    if (context.verbose) {
      const projections = layerWeights(context, module);
      context.step({
        name: 'projections',
        description: 'Query, key and value are projected into every head',
        scalars: { ...structure, head_dim: structure.embed_dim / structure.num_heads },
        tensors: { query, key, value, ...projections },
      });
      context.step({
        name: 'attention',
        description:
          'Softmax of the scaled products of queries and keys weighs the values; the heads are joined and projected',
        scalars: { scale: 1 / Math.sqrt(structure.embed_dim / structure.num_heads) },
        tensors: { ...outputs },
      });
    }
    return { output: outputs['output'], weights: outputs['weights'] };
  },
});
