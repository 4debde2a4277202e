import { defineNode, param } from '@cdui/node-sdk';
import { deviceOf, deviceParam } from '../training/run-options';
import { readCheckpoint } from './checkpoint';
import { chosenPath, PATH_INPUT } from './chosen-path';
import { requireSafetensors, resolveModelPath } from './paths';
import { restoreFrom } from './weights';

/** Puts model and optimizer back to where a checkpoint left them. */
export const checkpointLoaderNode = defineNode({
  name: 'CheckpointLoader',
  category: 'IO',
  description: 'Restores a model and its optimizer from a checkpoint.',
  inputs: { model: 'MODEL', optimizer: 'OPTIMIZER', path: PATH_INPUT },
  outputs: {
    model: 'MODEL',
    optimizer: 'OPTIMIZER',
    epoch: ['SCALAR', 'Epochs done; for start_epoch of a TrainingLoop'],
    losses: ['TENSOR', 'Losses of the epochs so far'],
  },
  params: {
    path: param.modelFile('', { description: 'The file, in the folder of models' }),
    device: deviceParam,
  },
  cacheable: false,
  needs: { readsFiles: ['path'] },
  async execute(context, inputs, params) {
    deviceOf(context, params);
    const { scope } = context;
    const model = inputs.model('model');
    const { optimizer, how } = scope.bindOptimizer(inputs.optimizer('optimizer'), model);
    if (how !== 'reused') context.log(`Optimizer ${how} on the parameters of this model`);
    const path = await resolveModelPath(chosenPath(inputs, params), context.folders);
    await requireSafetensors(path);
    const checkpoint = await readCheckpoint(scope, path);
    await restoreFrom(scope, path, model, checkpoint.model, {
      strict: true,
      wayOut: 'Build the layers that were saved',
    });
    await restoreFrom(scope, path, optimizer, checkpoint.optimizer, {
      strict: true,
      wayOut: 'Choose the type and options of the optimizer that was saved',
    });
    const losses = Float32Array.from(checkpoint.meta.losses ?? []);
    return {
      model,
      optimizer,
      epoch: checkpoint.meta.epoch,
      losses: scope.upload({ shape: [losses.length], dtype: 'float32', data: losses }),
    };
  },
});
