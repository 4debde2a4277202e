import { defineNode, param } from '@cdui/node-sdk';

export const permute = defineNode({
  name: 'Permute',
  category: 'Tensor Operations',
  description: 'Puts the dimensions into another order.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { dims: param.text('0,2,1', { description: 'The old dimensions in their new order, separated by commas' }) },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('permute', [inputs.tensor('tensor')], { dims: params.ints('dims') }),
  }),
});
