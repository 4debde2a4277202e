import { defineNode, param } from '@cdui/node-sdk';
import { writeCheckpoint } from './checkpoint';
import { resolveModelPath, withSafetensorsSuffix } from './paths';

/** Writes everything that training needs to go on: weights, the optimizer's state, the epoch, the losses. */
export const checkpointSaverNode = defineNode({
  name: 'CheckpointSaver',
  category: 'IO',
  description: 'Saves a model and its optimizer so that training can go on later.',
  inputs: { model: 'MODEL', optimizer: 'OPTIMIZER', losses: ['TENSOR?', 'Losses of the epochs so far'] },
  outputs: { path: ['STRING', 'Absolute path of the file'], model: 'MODEL' },
  params: {
    path: param.text('checkpoint.safetensors', {
      description: 'The file, in the folder of models; it ends in .safetensors',
    }),
    epoch: param.int(0, { description: 'Epochs done' }),
  },
  cacheable: false,
  needs: { writesFiles: true },
  async execute(context, inputs, params) {
    const model = inputs.model('model');
    const optimizer = inputs.optimizer('optimizer');
    const losses = inputs.optionalTensor('losses');
    const epoch = params.int('epoch');
    if (epoch < 0) params.reject('epoch', 'must be at least 0');
    const path = await resolveModelPath(withSafetensorsSuffix(params.text('path')), context.folders);
    const { bytes } = await writeCheckpoint(context, path, model, optimizer, {
      epoch,
      initial_lrs: [optimizer.spec.lr],
      ...(losses && { losses: numbers((await context.scope.read(losses)).data) }),
    });
    context.artifact('checkpoint', path, { reason: 'saved', epoch, bytes });
    return { path, model };
  },
});

function numbers(data: ArrayBufferView): number[] {
  return Array.from(data as unknown as ArrayLike<number | bigint>, Number);
}
