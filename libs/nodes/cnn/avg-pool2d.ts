import { defineNode, param } from '@cdui/node-sdk';

export const avgPool2d = defineNode({
  name: 'AvgPool2d',
  category: 'CNN',
  description: 'Averages over windows of an image.',
  inputs: { tensor: ['TENSOR', 'Images [N, C, H, W]'] },
  outputs: { tensor: 'TENSOR' },
  params: {
    kernel_size: param.int(2, { description: 'Side of the window' }),
    stride: param.int(2, { description: 'Distance between windows' }),
    padding: param.int(0, { description: 'Zeros added on each side; they count in the average' }),
  },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('avgPool2d', [inputs.tensor('tensor')], {
      kernelSize: params.int('kernel_size'),
      stride: params.int('stride'),
      padding: params.int('padding'),
    }),
  }),
});
