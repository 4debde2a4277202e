import { defineNode, param } from '@cdui/node-sdk';
import { newShape } from '../new-shape';

export const gaussianNoise = defineNode({
  name: 'GaussianNoise',
  category: 'Diffusion',
  description: 'Numbers of a normal distribution, drawn from a seed of its own.',
  inputs: { shape_ref: ['TENSOR?', 'A tensor whose shape is taken'] },
  outputs: { noise: 'TENSOR' },
  params: {
    shape: param.text('1,3,8,8', { description: 'Sizes separated by commas, where no tensor gives them' }),
    mean: param.float(0, { description: 'Centre of the distribution' }),
    std: param.float(1, { min: 0, description: 'Width of the distribution' }),
    seed: param.int(42, { description: 'Equal seeds give equal noise' }),
  },
  cacheable: false,
  execute({ scope }, inputs, params) {
    const shape = inputs.optionalTensor('shape_ref')?.shape ?? newShape(params);
    const attrs = { shape, mean: params.float('mean'), std: params.float('std') };
    return { noise: scope.op('randn', [], attrs, { generator: scope.generator(params.int('seed')) }) };
  },
});
