import { defineNode, param } from '@cdui/node-sdk';

export const argmax = defineNode({
  name: 'Argmax',
  category: 'Tensor Operations',
  description: 'Where the largest element along a dimension is.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: ['TENSOR', 'Indices (int64)'] },
  params: {
    dim: param.int(-1, { description: 'The dimension that is searched' }),
    keepdim: param.bool(false, { description: 'Whether it stays, with size one' }),
  },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('argmax', [inputs.tensor('tensor')], {
      dim: params.int('dim'),
      keepdim: params.bool('keepdim'),
    }),
  }),
});
