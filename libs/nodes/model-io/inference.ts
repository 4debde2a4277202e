import { defineNode } from '@cdui/node-sdk';
import { deviceOf, deviceParam } from '../training/run-options';

/** One pass through a model in eval mode, without gradients. */
export const inferenceNode = defineNode({
  name: 'Inference',
  category: 'IO',
  description: 'Runs a trained model on a tensor.',
  inputs: { model: 'MODEL', input: 'TENSOR' },
  outputs: { output: 'TENSOR', model: 'MODEL' },
  params: { device: deviceParam },
  cacheable: false,
  execute(context, inputs, params) {
    const model = inputs.model('model');
    const input = inputs.tensor('input');
    deviceOf(context, params);
    const { inputs: names, outputs } = model.spec;
    if (names.length !== 1 || outputs.length !== 1) inputs.reject('model', 'a model with one input and one output');
    const results = context.scope.forward(model, { [names[0]!]: input }, { mode: 'eval' });
    return { output: results[outputs[0]!.port]!, model };
  },
});
