import { defineNode, param } from '@cdui/node-sdk';

export const lerp = defineNode({
  name: 'Lerp',
  category: 'Diffusion',
  description: 'Blends two tensors: alpha * a + (1 - alpha) * b.',
  inputs: { tensor_a: 'TENSOR', tensor_b: 'TENSOR', alpha: ['TENSOR?', 'Takes the place of the param; broadcast'] },
  outputs: { tensor: 'TENSOR' },
  params: { alpha: param.float(0.5, { description: 'Share of the first tensor' }) },
  execute({ scope }, inputs, params) {
    // The op's weight is the share of its second tensor.
    const ends = [inputs.tensor('tensor_b'), inputs.tensor('tensor_a')];
    const alpha = inputs.optionalTensor('alpha');
    if (alpha) return { tensor: scope.op('lerp', [...ends, alpha], {}) };
    return { tensor: scope.op('lerp', ends, { weight: params.float('alpha') }) };
  },
});
