import { defineNode, param } from '@cdui/node-sdk';

const ALL = -1;

export const squeeze = defineNode({
  name: 'Squeeze',
  category: 'Tensor Operations',
  description: 'Removes dimensions of size one.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { dim: param.int(ALL, { description: 'Which dimension; -1 for all of size one' }) },
  execute(context, inputs, params) {
    const dim = params.int('dim');
    return { tensor: context.scope.op('squeeze', [inputs.tensor('tensor')], dim === ALL ? {} : { dim }) };
  },
});
