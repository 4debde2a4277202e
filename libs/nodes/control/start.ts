import { defineNode } from '@cdui/node-sdk';

export const start = defineNode({
  name: 'Start',
  category: 'Control',
  description: 'Marks where a run begins: the nodes that its trigger points to are entry points.',
  outputs: { trigger: ['TRIGGER', 'Connect it to the first nodes of the run'] },
  execute: () => ({}),
});
