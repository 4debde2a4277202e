import { defineNode, param } from '@cdui/node-sdk';

export const add = defineNode({
  name: 'Add',
  category: 'Tensor Operations',
  description: 'Adds two tensors element by element: a + alpha * b, with broadcasting.',
  inputs: { tensor_a: 'TENSOR', tensor_b: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { alpha: param.float(1, { description: 'Factor of the second tensor' }) },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('add', [inputs.tensor('tensor_a'), inputs.tensor('tensor_b')], {
      alpha: params.float('alpha'),
    }),
  }),
});
