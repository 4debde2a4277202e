import type { NodeContext } from '@cdui/node-sdk';
import { defineNode, param } from '@cdui/node-sdk';
import type { TensorRef } from '@cdui/tensor/runtime';

export const softmax = defineNode({
  name: 'Softmax',
  category: 'Tensor Operations',
  description: 'Turns numbers along a dimension into probabilities that sum to one.',
  inputs: { tensor: 'TENSOR' },
  outputs: { tensor: 'TENSOR' },
  params: { dim: param.int(-1, { description: 'The dimension along which they sum to one' }) },
  execute(context, inputs, params) {
    const tensor = inputs.tensor('tensor');
    const dim = params.int('dim');
    const result = context.scope.op('softmax', [tensor], { dim });
    if (context.verbose) trace(context, tensor, dim, result);
    return { tensor: result };
  },
});

function trace(context: NodeContext, tensor: TensorRef, dim: number, result: TensorRef): void {
  const { scope } = context;
  const largest = scope.op('amax', [tensor], { dim, keepdim: true });
  const shifted = scope.op('sub', [tensor, largest], {});
  const powers = scope.op('exp', [shifted], {});
  context.step({
    name: 'shift',
    description: 'The largest element is subtracted, so that no power overflows',
    scalars: { dim },
    tensors: { input: tensor, largest, shifted },
  });
  context.step({ name: 'exponentials', description: 'e to the power of each element', tensors: { powers } });
  context.step({
    name: 'normalise',
    description: 'Each power is divided by their sum',
    tensors: { sum: scope.op('sum', [powers], { dim, keepdim: true }), output: result },
  });
}
