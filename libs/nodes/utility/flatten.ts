import { defineNode, param } from '@cdui/node-sdk';
import { elementCount } from '../host-values';

export const flatten = defineNode({
  name: 'Flatten',
  category: 'Utility',
  description: 'Joins the dimensions from a given one to the last into one.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { start_dim: param.int(1, { description: 'The first dimension to join; negative ones count from the end' }) },
  execute(context, inputs, params) {
    const tensor = inputs.tensor('tensor');
    const start = params.int('start_dim');
    const rank = Math.max(tensor.shape.length, 1);
    if (start < -rank || start >= rank) {
      params.reject('start_dim', `must lie between ${-rank} and ${rank - 1} for a tensor [${tensor.shape.join(', ')}]`);
    }
    const kept = tensor.shape.slice(0, start < 0 ? start + rank : start);
    const shape = [...kept, elementCount(tensor.shape.slice(kept.length))];
    return { tensor: context.scope.op('reshape', [tensor], { shape }) };
  },
});
