import type { PortValue } from '@cdui/node-sdk';
import { defineNode, param } from '@cdui/node-sdk';

export const map = defineNode({
  name: 'Map',
  category: 'Data Flow',
  description:
    'Runs an installed preset once for each item of a list, one after the other, and collects its first output.',
  inputs: { items: ['LIST', 'Each item enters the first input of the preset'] },
  outputs: { results: 'LIST', count: ['SCALAR', 'How many items there were'] },
  params: { subgraph: param.text('', { description: 'Name of the preset' }) },
  needs: { runsPreset: 'subgraph' },
  async execute(context, inputs, params) {
    const name = params.text('subgraph');
    if (name.trim() === '') params.reject('subgraph', 'must name an installed preset');
    const items = inputs.list('items');
    const results: PortValue[] = [];
    for (const [index, item] of items.entries()) {
      context.signal.throwIfAborted();
      results.push(await context.runPreset(name, item, index));
    }
    return { results, count: items.length };
  },
});
