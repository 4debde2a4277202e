import { defineNode, param } from '@cdui/node-sdk';

export const stack = defineNode({
  name: 'Stack',
  category: 'Tensor Operations',
  description: 'Stacks two tensors of one shape along a new dimension.',
  inputs: { tensor_a: 'TENSOR', tensor_b: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { dim: param.int(0, { description: 'Where the new dimension goes' }) },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('stack', [inputs.tensor('tensor_a'), inputs.tensor('tensor_b')], {
      dim: params.int('dim'),
    }),
  }),
});
