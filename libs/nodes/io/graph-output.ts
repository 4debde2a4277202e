import { defineNode, param } from '@cdui/node-sdk';

export const graphOutput = defineNode({
  name: 'GraphOutput',
  category: 'IO',
  description: 'Publishes a value under a name to whoever runs the graph as a function.',
  inputs: { value: 'ANY' },
  params: {
    name: param.text('output', { description: 'Name of the result' }),
    description: param.text('', { description: 'For whoever calls the graph' }),
  },
  // Whoever runs the graph takes the value from the input.
  execute: () => ({}),
});
