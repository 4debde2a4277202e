import { defineNode, param } from '@cdui/node-sdk';

export const unsqueeze = defineNode({
  name: 'Unsqueeze',
  category: 'Tensor Operations',
  description: 'Inserts a dimension of size one.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { dim: param.int(0, { description: 'Where; negative ones count from the end' }) },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('unsqueeze', [inputs.tensor('tensor')], { dim: params.int('dim') }),
  }),
});
