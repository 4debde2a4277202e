import { fromZero, rowsOf } from '../ops/indexing';
import { multiHeadAttention } from '../ops/attention';
import { linear } from '../ops/matmul';
import type { LayerEmitters } from './emitters';

export const LINEAR_EMITTERS: LayerEmitters<'Linear' | 'Embedding' | 'MultiHeadAttention'> = {
  Linear: (g, [x], _params, context) => linear(g, x, context.required('weight'), context.weight('bias')),
  Embedding: (g, [index], { padding_idx }, context) => {
    const table = context.required('weight');
    return rowsOf(g, table, fromZero(g, index, table.shape[0]!), padding_idx);
  },
  MultiHeadAttention: (g, [query, key = query, value = key], params, context) => {
    const weights = {
      inProjection: context.required('in_proj_weight'),
      inBias: context.weight('in_proj_bias'),
      outProjection: context.required('out_proj.weight'),
      outBias: context.weight('out_proj.bias'),
    };
    return multiHeadAttention(g, [query, key, value], weights, params, context);
  },
};
