import { CodedError } from '@cdui/protocol';
import type { DatasetValue } from '@cdui/node-sdk';
import type { Feed, LossSpec, ModuleRef } from '@cdui/tensor/runtime';

/**
 * How the fields of a data set reach a model and its loss: two fields are input and target, one is the input alone.
 *
 * @throws CodedError `model_ports` when the model takes or gives more than one tensor
 */
export function feedFor(model: ModuleRef, dataset: DatasetValue): Feed {
  const { inputs, outputs } = model.spec;
  const [input, target] = dataset.fields;
  if (!input) {
    throw new CodedError('empty_dataset', `The data set ${dataset.name} has no fields to train on`, {
      dataset: dataset.name,
    });
  }
  if (inputs.length !== 1 || outputs.length !== 1) {
    throw new CodedError(
      'model_ports',
      `Training and evaluation need a model with one input and one output, this one has inputs ${inputs.join(', ')} and outputs ${outputs.map(({ port }) => port).join(', ')}`,
      { inputs, outputs: outputs.map(({ port }) => port) },
    );
  }
  return {
    inputs: { [inputs[0]!]: input.name },
    ...(target && { target: target.name }),
    affine: dataset.affine,
  };
}

/** Whether the outputs are scores of classes, so that accuracy means something. */
export function isClassification(loss: LossSpec): boolean {
  return loss.type === 'CrossEntropy' || loss.type === 'NLL';
}
