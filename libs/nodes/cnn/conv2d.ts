import { defineNode, param } from '@cdui/node-sdk';
import { layerWeights, runLayer } from '../layer-module';

export const conv2d = defineNode({
  name: 'Conv2d',
  category: 'CNN',
  description: 'A 2-D convolution with weights of its own.',
  inputs: { tensor: ['TENSOR', 'Images [N, C, H, W]'] },
  outputs: { tensor: 'TENSOR' },
  params: {
    in_channels: param.int(1, { description: 'Channels of the input' }),
    out_channels: param.int(32, { description: 'Channels of the result: how many kernels there are' }),
    kernel_size: param.int(3, { description: 'Side of a kernel' }),
    stride: param.int(1, { description: 'Distance between windows' }),
    padding: param.int(1, { description: 'Zeros added on each side' }),
  },
  cacheable: false,
  ownsWeights: true,
  execute(context, inputs, params) {
    const tensor = inputs.tensor('tensor');
    const structure = {
      in_channels: params.int('in_channels'),
      out_channels: params.int('out_channels'),
      kernel_size: params.int('kernel_size'),
      stride: params.int('stride'),
      padding: params.int('padding'),
    };
    const { module, outputs } = runLayer(
      context,
      { layer: 'Conv2d', params: structure, inputs: ['x'], outputs: ['y'] },
      { x: tensor },
    );
    if (context.verbose) {
      const weights = layerWeights(context, module);
      context.step({
        name: 'kernels',
        description: 'Each kernel slides over all channels of the input and gives one channel of the result',
        scalars: structure,
        tensors: { input: tensor, ...weights },
      });
      context.step({
        name: 'convolution',
        description: 'The sum of products at each position, plus the bias of the kernel',
        tensors: { output: outputs['y'] ?? tensor },
      });
    }
    return { tensor: outputs['y'] };
  },
});
