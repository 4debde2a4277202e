import type { NodeContext } from '@cdui/node-sdk';
import { defineNode, param } from '@cdui/node-sdk';
import type { Shape, TensorRef } from '@cdui/tensor/runtime';
import { newShape } from '../new-shape';
import { withGradient } from '../with-gradient';

type Fill = 'zeros' | 'ones' | 'randn' | 'rand' | 'full' | 'arange';

export const tensorCreate = defineNode({
  name: 'TensorCreate',
  category: 'Tensor Operations',
  description: 'Creates a tensor of float32 numbers: one value, a count, or random numbers.',
  outputs: { tensor: 'TENSOR' },
  params: {
    shape: param.text('1,3,224,224', { description: 'Sizes separated by commas' }),
    fill: param.select('zeros', ['zeros', 'ones', 'randn', 'rand', 'full', 'arange'], {
      description: 'randn: normal distribution; rand: from 0 to 1; arange: 0, 1, 2, ... as many as the first size says',
    }),
    value: param.float(0, { description: 'The value of full', visibleWhen: { fill: 'full' } }),
    requires_grad: param.bool(false, { description: 'Whether a backward pass gives it a gradient' }),
  },
  async execute(context, _inputs, params) {
    const shape = newShape(params);
    const tensor = create(context, params.choice<Fill>('fill'), shape, params.float('value'));
    return { tensor: params.bool('requires_grad') ? await withGradient(context.scope, tensor) : tensor };
  },
});

function create({ scope }: NodeContext, fill: Fill, shape: Shape, value: number): TensorRef {
  switch (fill) {
    case 'randn':
      return scope.op('randn', [], { shape });
    case 'rand':
      return scope.op('rand', [], { shape });
    case 'arange':
      return scope.op('arange', [], { start: 0, end: shape[0] ?? 1, step: 1, dtype: 'float32' });
    case 'full':
      return scope.op('full', [], { shape, value, dtype: 'float32' });
    case 'ones':
      return scope.op('full', [], { shape, value: 1, dtype: 'float32' });
    case 'zeros':
      return scope.op('full', [], { shape, value: 0, dtype: 'float32' });
  }
}
