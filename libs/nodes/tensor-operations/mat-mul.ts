import { defineNode } from '@cdui/node-sdk';

export const matMul = defineNode({
  name: 'MatMul',
  category: 'Tensor Operations',
  description: 'Multiplies matrices; leading dimensions are batches.',
  inputs: { tensor_a: 'TENSOR', tensor_b: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  execute: (context, inputs) => ({
    tensor: context.scope.op('matmul', [inputs.tensor('tensor_a'), inputs.tensor('tensor_b')], {}),
  }),
});
