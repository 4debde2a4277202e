import { defineNode } from '@cdui/node-sdk';

export const backwardOnce = defineNode({
  name: 'BackwardOnce',
  category: 'Training',
  description: 'Passes a tensor on and marks it as the start of the backward pass: gradients are those of its sum.',
  inputs: { tensor: ['TENSOR', 'Usually a loss'] },
  outputs: { tensor: 'TENSOR' },
  cacheable: false,
  startsBackward: true,
  execute: (_context, inputs) => ({ tensor: inputs.tensor('tensor') }),
});
