import { defineNode, param } from '@cdui/node-sdk';

export const concat = defineNode({
  name: 'Concat',
  category: 'Utility',
  description: 'Joins two tensors along a dimension.',
  inputs: { tensor_a: 'TENSOR', tensor_b: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { dim: param.int(0, { description: 'The dimension along which they are joined' }) },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('concat', [inputs.tensor('tensor_a'), inputs.tensor('tensor_b')], {
      dim: params.int('dim'),
    }),
  }),
});
