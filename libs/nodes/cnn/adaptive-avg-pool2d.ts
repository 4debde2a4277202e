import { defineNode, param } from '@cdui/node-sdk';

export const adaptiveAvgPool2d = defineNode({
  name: 'AdaptiveAvgPool2d',
  category: 'CNN',
  description: 'Averages images of any size down to a fixed height and width.',
  inputs: { tensor: ['TENSOR', 'Images [N, C, H, W]'] },
  outputs: { tensor: 'TENSOR' },
  params: {
    output_height: param.int(1, { description: 'Rows of the result' }),
    output_width: param.int(1, { description: 'Columns of the result' }),
  },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('adaptiveAvgPool2d', [inputs.tensor('tensor')], {
      outputSize: [params.int('output_height'), params.int('output_width')],
    }),
  }),
});
