import { defineNode, param } from '@cdui/node-sdk';

export const reshape = defineNode({
  name: 'Reshape',
  category: 'Utility',
  description: 'Gives a tensor another shape of as many elements.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { shape: param.text('-1,784', { description: 'Sizes separated by commas; one may be -1' }) },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('reshape', [inputs.tensor('tensor')], { shape: params.ints('shape') }),
  }),
});
