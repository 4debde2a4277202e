import { defineNode, param } from '@cdui/node-sdk';

export const mean = defineNode({
  name: 'Mean',
  category: 'Tensor Operations',
  description: 'Averages over one or more dimensions.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: {
    dim: param.text('-1', { description: 'Dimensions separated by commas; empty for all' }),
    keepdim: param.bool(false, { description: 'Whether they stay, with size one' }),
  },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('mean', [inputs.tensor('tensor')], {
      dim: params.ints('dim'),
      keepdim: params.bool('keepdim'),
    }),
  }),
});
