import { defineNode, param } from '@cdui/node-sdk';

export const dropout = defineNode({
  name: 'Dropout',
  category: 'CNN',
  description: 'Sets each element to zero with probability p and scales up the rest, as in training.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { p: param.float(0.5, { min: 0, max: 1, description: 'Share of elements set to zero' }) },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('dropout', [inputs.tensor('tensor')], { p: params.float('p') }),
  }),
});
