import { defineNode, param } from '@cdui/node-sdk';
import type { Activation } from '@cdui/tensor/runtime';

const FUNCTIONS: readonly Activation[] = [
  'relu',
  'sigmoid',
  'tanh',
  'leaky_relu',
  'elu',
  'gelu',
  'silu',
  'mish',
  'selu',
  'softmax',
  'hardswish',
  'prelu',
];

export const activation = defineNode({
  name: 'Activation',
  category: 'CNN',
  description: 'Applies an activation function to every element; softmax works along the last dimension.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { function: param.select('relu', FUNCTIONS, { description: 'Which function' }) },
  execute(context, inputs, params) {
    const name = params.choice<Activation>('function');
    return { tensor: context.scope.op('activation', [inputs.tensor('tensor')], { function: name }) };
  },
});
