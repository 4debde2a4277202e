import { defineNode, param } from '@cdui/node-sdk';
import { valueText } from './value-text';

export const print = defineNode({
  name: 'Print',
  category: 'Utility',
  description: 'Writes a value to the log and passes it on.',
  inputs: { value: 'ANY' },
  outputs: { value: 'ANY' },
  params: { label: param.text('', { description: 'Written before the value' }) },
  async execute(context, inputs, params) {
    const value = inputs.raw('value');
    const label = params.text('label');
    const text = await valueText(context.scope, value);
    context.log(label === '' ? text : `[${label}] ${text}`);
    return { value };
  },
});
