import { relative } from 'node:path';
import { defineNode, param } from '@cdui/node-sdk';
import { resolveModelPath, withSafetensorsSuffix, writeAtomically } from './paths';
import { MODEL_STATE } from './weights';

/** Writes the weights of a model to a safetensors file below the folder of models. */
export const modelSaverNode = defineNode({
  name: 'ModelSaver',
  category: 'IO',
  description: 'Saves the weights of a model to a file.',
  inputs: { model: 'MODEL' },
  outputs: { path: ['STRING', 'Absolute path of the file'], model: 'MODEL' },
  params: {
    path: param.text('model_weights.safetensors', {
      description: 'The file, in the folder of models; it ends in .safetensors',
    }),
    save_mode: param.select('state_dict', ['state_dict'], {
      description: 'What is saved: the weights by name',
      advanced: true,
    }),
    format: param.select('safetensors', ['safetensors'], { description: 'Format of the file', advanced: true }),
  },
  cacheable: false,
  needs: { writesFiles: true },
  async execute(context, inputs, params) {
    const model = inputs.model('model');
    params.choice('save_mode');
    params.choice('format');
    const path = await resolveModelPath(withSafetensorsSuffix(params.text('path')), context.folders);
    const state = context.scope.snapshot(model);
    const { bytes } = await writeAtomically(path, (temporary) =>
      context.scope.saveState(temporary, { [MODEL_STATE]: state }, { format: 'pt' }),
    );
    context.artifact('model', path, { bytes, format: 'safetensors' });
    context.log(`Saved ${relative(context.folders.models, path)} (${bytes} bytes)`);
    return { path, model };
  },
});
