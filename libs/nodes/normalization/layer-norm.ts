import { defineNode, param } from '@cdui/node-sdk';
import { layerWeights, runLayer } from '../layer-module';

export const layerNorm = defineNode({
  name: 'LayerNorm',
  category: 'Normalization',
  description: 'Normalises the last dimensions of each item, then applies a learnt scale and shift.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: {
    normalized_shape: param.text('512', { description: 'Sizes of the last dimensions, separated by commas' }),
    eps: param.float(1e-5, { description: 'Added to the variance' }),
  },
  cacheable: false,
  ownsWeights: true,
  execute(context, inputs, params) {
    const tensor = inputs.tensor('tensor');
    const shape = params.ints('normalized_shape');
    const structure = { normalized_shape: shape, eps: params.float('eps') };
    const { module, outputs } = runLayer(
      context,
      { layer: 'LayerNorm', params: structure, inputs: ['x'], outputs: ['y'] },
      { x: tensor },
    );
    if (context.verbose) {
      const { scope } = context;
      const dim = shape.map((_, index) => -1 - index);
      const { weight, bias } = layerWeights(context, module);
      context.step({
        name: 'statistics',
        description: 'Mean and variance of each item over its last dimensions',
        scalars: { eps: structure.eps },
        tensors: {
          mean: scope.op('mean', [tensor], { dim, keepdim: true }),
          variance: scope.op('var', [tensor], { dim, correction: 0, keepdim: true }),
        },
      });
      context.step({
        name: 'scale and shift',
        description: 'The normalised item times the weight plus the bias',
        tensors: { ...(weight && { weight }), ...(bias && { bias }), output: outputs['y'] ?? tensor },
      });
    }
    return { tensor: outputs['y'] };
  },
});
