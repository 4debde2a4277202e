import { defineNode, param } from '@cdui/node-sdk';

type Mode = 'nearest' | 'bilinear' | 'area';

export const upsample = defineNode({
  name: 'Upsample',
  category: 'Diffusion',
  description: 'Resizes images by a factor.',
  inputs: { tensor: ['TENSOR', 'Images [N, C, H, W]'] },
  outputs: { tensor: 'TENSOR' },
  params: {
    mode: param.select('nearest', ['nearest', 'bilinear', 'area'], { description: 'How new pixels are worked out' }),
    scale_factor: param.float(2, { min: 0.1, description: 'New size over old size' }),
  },
  execute: (context, inputs, params) => ({
    tensor: context.scope.op('upsample', [inputs.tensor('tensor')], {
      mode: params.choice<Mode>('mode'),
      scaleFactor: params.float('scale_factor'),
    }),
  }),
});
