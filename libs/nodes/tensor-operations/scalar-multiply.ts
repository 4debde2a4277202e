import { defineNode, param } from '@cdui/node-sdk';

export const scalarMultiply = defineNode({
  name: 'ScalarMultiply',
  category: 'Tensor Operations',
  description: 'Multiplies every element by a number.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { scalar: param.float(1, { description: 'The number' }) },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('affine', [inputs.tensor('tensor')], { scale: params.float('scalar') }),
  }),
});
