import { defineNode, param } from '@cdui/node-sdk';

export const maxPool2d = defineNode({
  name: 'MaxPool2d',
  category: 'CNN',
  description: 'Takes the largest value of each window of an image.',
  inputs: { tensor: ['TENSOR', 'Images [N, C, H, W]'] },
  outputs: { tensor: 'TENSOR' },
  params: {
    kernel_size: param.int(2, { description: 'Side of the window' }),
    stride: param.int(2, { description: 'Distance between windows' }),
  },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('maxPool2d', [inputs.tensor('tensor')], {
      kernelSize: params.int('kernel_size'),
      stride: params.int('stride'),
    }),
  }),
});
