import type { PortValue } from '@cdui/node-sdk';
import { defineNode, isTensor, param } from '@cdui/node-sdk';
import type { OpName, Scope, TensorRef } from '@cdui/tensor/runtime';
import { hostTensor } from '../host-values';

const FOLDS = { sum: 'sum', mean: 'mean', min: 'amin', max: 'amax' } as const satisfies Record<string, OpName>;
type Fold = keyof typeof FOLDS;
type Operation = Fold | 'concat' | 'stack' | 'first' | 'last';

export const reduce = defineNode({
  name: 'Reduce',
  category: 'Data Flow',
  description: 'Folds a list of tensors or numbers into one value.',
  inputs: { items: 'LIST' },
  outputs: { result: 'ANY', count: ['SCALAR', 'How many items there were'] },
  params: {
    operation: param.select('mean', ['sum', 'mean', 'min', 'max', 'concat', 'stack', 'first', 'last'], {
      description: 'sum, mean, min and max work element by element',
    }),
    dim: param.int(0, { description: 'Dimension along which concat and stack join' }),
  },
  execute(context, inputs, params) {
    const items = inputs.list('items');
    const operation = params.choice<Operation>('operation');
    const [first, last] = [items[0], items.at(-1)];
    if (first === undefined || last === undefined) return inputs.reject('items', 'a list with at least one item');
    const count = items.length;
    if (operation === 'first') return { result: first, count };
    if (operation === 'last') return { result: last, count };

    const tensors = items.map(
      (item) => asTensor(context.scope, item) ?? inputs.reject('items', 'a list of tensors or numbers'),
    );
    const { scope } = context;
    if (operation === 'concat') return { result: scope.op('concat', tensors, { dim: params.int('dim') }), count };
    if (operation === 'stack') return { result: scope.op('stack', tensors, { dim: params.int('dim') }), count };
    return { result: scope.op(FOLDS[operation], [scope.op('stack', tensors, { dim: 0 })], { dim: 0 }), count };
  },
});

function asTensor(scope: Scope, item: PortValue): TensorRef | null {
  if (isTensor(item)) return item;
  return typeof item === 'number' ? scope.upload(hostTensor([], 'float32', [item])) : null;
}
