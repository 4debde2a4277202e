import { defineNode, param } from '@cdui/node-sdk';
import { deviceOf, deviceParam } from '../training/run-options';
import { chosenPath, PATH_INPUT } from './chosen-path';
import { requireSafetensors, resolveModelPath } from './paths';
import { readWeights, restoreFrom } from './weights';

/** Puts the weights of a safetensors file into a model of the same layers. */
export const modelLoaderNode = defineNode({
  name: 'ModelLoader',
  category: 'IO',
  description: 'Loads weights from a file into a model.',
  inputs: { model: ['MODEL?', 'The layers that the weights belong to'], path: PATH_INPUT },
  outputs: { model: 'MODEL' },
  params: {
    path: param.modelFile('', { description: 'The file, in the folder of models' }),
    load_mode: param.select('state_dict', ['state_dict'], {
      description: 'What is loaded: the weights by name',
      advanced: true,
    }),
    device: deviceParam,
    strict: param.bool(true, { description: 'Names and shapes must match exactly' }),
  },
  cacheable: false,
  needs: { readsFiles: ['path'] },
  async execute(context, inputs, params) {
    params.choice('load_mode');
    deviceOf(context, params);
    const model = inputs.model('model');
    const path = await resolveModelPath(chosenPath(inputs, params), context.folders);
    await requireSafetensors(path);
    const strict = params.bool('strict');
    const weights = await readWeights(context.scope, path);
    const { missing, unexpected } = await restoreFrom(context.scope, path, model, weights, {
      strict,
      wayOut: strict
        ? 'Build the layers that were saved, or set strict to false to load only the names that match'
        : 'Build layers of the shapes that were saved: without strict only names may differ',
    });
    if (missing.length > 0) context.log(`Not in the file, left as they are: ${missing.join(', ')}`);
    if (unexpected.length > 0) context.log(`In the file only, left out: ${unexpected.join(', ')}`);
    return { model };
  },
});
