import { defineNode, param } from '@cdui/node-sdk';
import { layerWeights, runLayer } from '../layer-module';

export const linear = defineNode({
  name: 'Linear',
  category: 'Utility',
  description: 'A fully connected layer with weights of its own.',
  inputs: { tensor: ['TENSOR', 'The last dimension holds the features'] },
  outputs: { tensor: 'TENSOR' },
  params: {
    in_features: param.int(512, { description: 'Features of the input' }),
    out_features: param.int(10, { description: 'Features of the result' }),
  },
  cacheable: false,
  ownsWeights: true,
  execute(context, inputs, params) {
    const tensor = inputs.tensor('tensor');
    const structure = { in_features: params.int('in_features'), out_features: params.int('out_features') };
    const { module, outputs } = runLayer(
      context,
      { layer: 'Linear', params: structure, inputs: ['x'], outputs: ['y'] },
      { x: tensor },
    );
    if (context.verbose) {
      const { scope } = context;
      const { weight, bias } = layerWeights(context, module);
      if (weight) {
        context.step({
          name: 'matrix product',
          description: 'Each row of the weight is multiplied with the features and summed',
          scalars: structure,
          tensors: {
            input: tensor,
            weight,
            product: scope.op('matmul', [tensor, scope.op('permute', [weight], { dims: [1, 0] })], {}),
          },
        });
      }
      context.step({
        name: 'bias',
        description: 'The bias is added to each row',
        tensors: { ...(bias && { bias }), output: outputs['y'] ?? tensor },
      });
    }
    return { tensor: outputs['y'] };
  },
});
