import type { NodeContext, ParamReader } from '@cdui/node-sdk';
import { defineNode, param } from '@cdui/node-sdk';
import type { DType, Scope, Shape, TensorRef } from '@cdui/tensor/runtime';
import { elementCount, flattenGrid, hostTensor } from '../host-values';
import { newShape } from '../new-shape';
import { withGradient } from '../with-gradient';

type ValueMode = 'explicit' | 'random' | 'zeros' | 'ones' | 'arange';

export const tensorInput = defineNode({
  name: 'TensorInput',
  category: 'Data',
  description: 'A tensor of typed-in values, random numbers or a simple fill.',
  outputs: { tensor: 'TENSOR' },
  params: {
    shape: param.text('1,4,4', { description: 'Sizes separated by commas' }),
    dtype: param.select('float32', ['float32', 'float64', 'int64', 'int32', 'bool'], { description: 'Kind of number' }),
    value_mode: param.select('random', ['explicit', 'random', 'zeros', 'ones', 'arange'], {
      description: 'random: normal distribution for floats, 0 to 9 for whole numbers, 0 or 1 for bool',
    }),
    values: param.tensorGrid(null, {
      description: 'The values of explicit, as many as the shape holds',
      visibleWhen: { value_mode: 'explicit' },
    }),
    seed: param.int(0, { description: 'Of the random numbers', visibleWhen: { value_mode: 'random' } }),
  },
  async execute(context, _inputs, params) {
    const shape = newShape(params);
    const dtype = params.choice<DType>('dtype');
    const tensor = create(context, params, shape, dtype);
    const learns = context.recordGradients && (dtype === 'float32' || dtype === 'float64');
    return { tensor: learns ? await withGradient(context.scope, tensor) : tensor };
  },
});

function create({ scope }: NodeContext, params: ParamReader, shape: Shape, dtype: DType): TensorRef {
  switch (params.choice<ValueMode>('value_mode')) {
    case 'explicit':
      return scope.upload(hostTensor(shape, dtype, explicitValues(params, shape, dtype)));
    case 'random':
      return random(scope, params.int('seed'), shape, dtype);
    case 'zeros':
      return scope.op('full', [], { shape, value: 0, dtype });
    case 'ones':
      return scope.op('full', [], { shape, value: 1, dtype });
    case 'arange':
      return scope.upload(
        hostTensor(
          shape,
          dtype,
          Array.from({ length: elementCount(shape) }, (_, index) => index),
        ),
      );
  }
}

function explicitValues(params: ParamReader, shape: Shape, dtype: DType): readonly number[] {
  const grid = flattenGrid(params.raw('values'), dtype === 'bool');
  if (grid === null) return params.reject('values', 'must be numbers in nested lists of equal length');
  const count = elementCount(shape);
  if (grid.values.length !== count) {
    params.reject(
      'values',
      `must hold ${count} numbers for the shape [${shape.join(', ')}], holds ${grid.values.length}`,
    );
  }
  return grid.values;
}

// A generator of its own: the values depend on the param alone, not on the run's seed.
function random(scope: Scope, seed: number, shape: Shape, dtype: DType): TensorRef {
  const generator = scope.generator(seed);
  if (dtype === 'float32' || dtype === 'float64') {
    const drawn = scope.op('randn', [], { shape }, { generator });
    return dtype === 'float32' ? drawn : scope.op('cast', [drawn], { dtype });
  }
  const drawn = scope.op('randint', [], { shape, low: 0, high: dtype === 'bool' ? 2 : 10 }, { generator });
  return scope.op('cast', [drawn], { dtype });
}
