import { CodedError } from '@cdui/protocol';
import type { Scope, StateRef } from '@cdui/tensor/runtime';

/** Name of the group that holds the weights of a model in its file. */
export const MODEL_STATE = 'model';

/** The weights in a file: its only group, or the model's in a checkpoint. @throws CodedError `invalid_model_file` */
export async function readWeights(scope: Scope, path: string): Promise<StateRef> {
  const { states } = await scope.loadState(path);
  const names = Object.keys(states);
  const weights = states[MODEL_STATE] ?? (names.length === 1 ? states[names[0]!] : undefined);
  if (!weights) {
    throw new CodedError(
      'invalid_model_file',
      `${path} holds no weights of one model: it has ${names.join(', ') || 'no tensors'}`,
      { path },
    );
  }
  return weights;
}
