import { CodedError } from '@cdui/protocol';
import { RuntimeError, type ModuleRef, type OptimizerRef, type Scope, type StateRef } from '@cdui/tensor/runtime';

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

/**
 * Restores what a file holds, and says which file it was and what to do when it does not fit.
 *
 * @throws CodedError `state_mismatch`
 */
export async function restoreFrom(
  scope: Scope,
  path: string,
  target: ModuleRef | OptimizerRef,
  state: StateRef,
  options: { readonly strict: boolean; readonly wayOut: string },
): Promise<{ missing: string[]; unexpected: string[] }> {
  try {
    return await scope.restore(target, state, { strict: options.strict });
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code === 'cancelled') throw error;
    const reason = error.message.replace(/^restore: /, '');
    throw new CodedError('state_mismatch', `${path} cannot be loaded: ${reason}. ${options.wayOut}`, { path });
  }
}
