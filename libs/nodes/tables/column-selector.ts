import type { InputReader, ParamReader } from '@cdui/node-sdk';
import { defineNode, param } from '@cdui/node-sdk';
import type { Scope, TensorRef } from '@cdui/tensor/runtime';
import { hostTensor } from '../host-values';

export const columnSelector = defineNode({
  name: 'ColumnSelector',
  category: 'Data',
  description: 'Keeps chosen columns (entries of the last dimension), by name or by index.',
  inputs: { tensor: 'TENSOR', columns: ['LIST?', 'Names of the columns, as CSVReader gives them'] },
  outputs: { tensor: 'TENSOR' },
  params: {
    indices: param.text('0', { description: 'From 0 on, separated by commas' }),
    names: param.text('', { description: 'Names separated by commas; they win over indices' }),
  },
  execute(context, inputs, params) {
    const tensor = inputs.tensor('tensor');
    const width = tensor.shape.at(-1);
    if (width === undefined) return inputs.reject('tensor', 'a tensor of at least one dimension');
    const chosen = params.words('names').length > 0 ? byName(inputs, params) : params.ints('indices');
    if (chosen.some((index) => index < 0 || index >= width)) {
      params.reject('indices', `must lie between 0 and ${width - 1}, the columns of the tensor`);
    }
    return { tensor: select(context.scope, tensor, chosen) };
  },
});

function byName(inputs: InputReader, params: ParamReader): readonly number[] {
  const columns = inputs.list('columns');
  return params.words('names').map((name) => {
    const index = columns.indexOf(name);
    return index >= 0 ? index : params.reject('names', `must be among ${columns.join(', ')}`);
  });
}

function select(scope: Scope, tensor: TensorRef, chosen: readonly number[]): TensorRef {
  if (chosen.length === 0) {
    const shape = [...tensor.shape.slice(0, -1), 0];
    return scope.upload(hostTensor(shape, tensor.dtype, []));
  }
  const index = scope.upload(hostTensor([chosen.length], 'int64', chosen));
  return scope.op('indexSelect', [tensor, index], { dim: -1 });
}
