import type { NodeOutputs, Ports } from '@cdui/node-sdk';
import { defineNode, param } from '@cdui/node-sdk';

const MAX_CHUNKS = 32;

export const split = defineNode({
  name: 'Split',
  category: 'Tensor Operations',
  description: 'Splits a tensor into chunks of equal size along a dimension; the last one may be smaller, or missing.',
  inputs: { tensor: 'TENSOR' },
  outputs: { chunk_0: 'TENSOR', chunk_1: 'TENSOR' },
  params: {
    chunks: param.int(2, { min: 1, max: MAX_CHUNKS, description: 'How many; each has an output of its own' }),
    dim: param.int(0, { description: 'The dimension that is split' }),
  },
  outputsFor(params): Ports {
    const chunks = params['chunks'] ?? 2;
    const valid = typeof chunks === 'number' && Number.isInteger(chunks) && chunks >= 1 && chunks <= MAX_CHUNKS;
    return Object.fromEntries(Array.from({ length: valid ? chunks : 2 }, (_, index) => [`chunk_${index}`, 'TENSOR']));
  },
  execute(context, inputs, params): NodeOutputs {
    const chunks = context.scope.opMany('chunk', [inputs.tensor('tensor')], {
      chunks: params.int('chunks'),
      dim: params.int('dim'),
    });
    return Object.fromEntries(chunks.map((chunk, index) => [`chunk_${index}`, chunk]));
  },
});
