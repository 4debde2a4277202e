import { defineNode, param } from '@cdui/node-sdk';

export const textInput = defineNode({
  name: 'TextInput',
  category: 'Data',
  description: 'Gives a fixed text.',
  outputs: { text: 'STRING' },
  params: { value: param.text('The quick brown fox jumps over the lazy dog.', { description: 'The text' }) },
  execute: (_context, _inputs, params) => ({ text: params.text('value') }),
});
