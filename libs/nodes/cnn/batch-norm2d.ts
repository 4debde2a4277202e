import { defineNode, param } from '@cdui/node-sdk';
import { layerWeights, runLayer } from '../layer-module';

const CHANNELS_APART = [0, 2, 3];

export const batchNorm2d = defineNode({
  name: 'BatchNorm2d',
  category: 'CNN',
  description: 'Normalises each channel over the batch, then applies a learnt scale and shift.',
  inputs: { tensor: ['TENSOR', 'Images [N, C, H, W]'] },
  outputs: { tensor: 'TENSOR' },
  params: { num_features: param.int(32, { description: 'Channels of the input' }) },
  cacheable: false,
  ownsWeights: true,
  execute(context, inputs, params) {
    const tensor = inputs.tensor('tensor');
    const structure = { num_features: params.int('num_features') };
    const { module, outputs } = runLayer(
      context,
      { layer: 'BatchNorm2d', params: structure, inputs: ['x'], outputs: ['y'] },
      { x: tensor },
    );
    if (context.verbose) {
      const { scope } = context;
      const { weight, bias } = layerWeights(context, module);
      context.step({
        name: 'statistics',
        description: 'Mean and variance of each channel over the batch and all positions',
        tensors: {
          mean: scope.op('mean', [tensor], { dim: CHANNELS_APART }),
          variance: scope.op('var', [tensor], { dim: CHANNELS_APART, correction: 0 }),
        },
      });
      context.step({
        name: 'scale and shift',
        description: 'The normalised channel times its weight plus its bias',
        tensors: { ...(weight && { weight }), ...(bias && { bias }), output: outputs['y'] ?? tensor },
      });
    }
    return { tensor: outputs['y'] };
  },
});
