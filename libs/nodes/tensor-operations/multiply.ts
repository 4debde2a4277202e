import { defineNode } from '@cdui/node-sdk';

export const multiply = defineNode({
  name: 'Multiply',
  category: 'Tensor Operations',
  description: 'Multiplies two tensors element by element, with broadcasting.',
  inputs: { tensor_a: 'TENSOR', tensor_b: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  execute: (context, inputs) => ({
    tensor: context.scope.op('mul', [inputs.tensor('tensor_a'), inputs.tensor('tensor_b')], {}),
  }),
});
