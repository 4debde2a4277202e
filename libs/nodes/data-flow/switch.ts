import { defineNode, isTensor } from '@cdui/node-sdk';

const INPUTS = ['input_0', 'input_1', 'input_2', 'input_3'] as const;

export const switchNode = defineNode({
  name: 'Switch',
  category: 'Data Flow',
  description: 'Passes on one of up to four inputs, chosen by a number. All of them are computed.',
  inputs: {
    selector: ['SCALAR', 'Which input to pass on: 0 to 3'],
    input_0: ['ANY', 'Also used when the chosen input is not connected'],
    input_1: 'ANY?',
    input_2: 'ANY?',
    input_3: 'ANY?',
  },
  outputs: { output: 'ANY' },
  async execute(context, inputs) {
    const selector = inputs.any('selector');
    const chosen = isTensor(selector) ? await context.scope.readScalar(selector) : inputs.number('selector');
    const port = INPUTS[Math.trunc(chosen)];
    return { output: port !== undefined && inputs.has(port) ? inputs.any(port) : inputs.any('input_0') };
  },
});
