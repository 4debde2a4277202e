import { CodedError } from '@cdui/protocol';
import type { NodeContext } from '@cdui/node-sdk';
import type { ModuleRef, OptimizerRef, Scope, StateRef } from '@cdui/tensor/runtime';
import { writeAtomically } from './paths';

/** Names of the two groups of tensors in a checkpoint file. */
const MODEL = 'model';
const OPTIMIZER = 'optimizer';
/** Key of the JSON part among the file's metadata. */
const META_KEY = 'checkpoint';

/** The JSON part of a checkpoint: where training stood. Names as in PyTorch checkpoints. */
export interface CheckpointMeta {
  /** Completed epochs. */
  readonly epoch: number;
  readonly losses?: readonly number[];
  readonly initial_lrs?: readonly number[];
  readonly scheduler_class?: string;
  readonly scheduler_state_dict?: Readonly<Record<string, number>>;
  /** Why a training loop wrote it, and the batches of the unfinished epoch that it had done. */
  readonly reason?: string;
  readonly batch?: number;
}

/** Tensors and JSON part of a checkpoint that was read. */
export interface Checkpoint {
  readonly model: StateRef;
  readonly optimizer: StateRef;
  readonly meta: CheckpointMeta;
}

/**
 * Writes weights, the optimizer's state and the JSON part to one safetensors file, atomically and durably. It works in a scope of its
 * own: the node's may already refuse work because the run is stopping.
 */
export async function writeCheckpoint(
  context: Pick<NodeContext, 'runtime' | 'nodeId'>,
  path: string,
  model: ModuleRef,
  optimizer: OptimizerRef,
  meta: CheckpointMeta,
): Promise<{ bytes: number; sha256: string }> {
  const scope = context.runtime.openScope({ label: context.nodeId });
  try {
    const states = { [MODEL]: scope.snapshot(model), [OPTIMIZER]: scope.snapshot(optimizer) };
    return await writeAtomically(path, (temporary) =>
      scope.saveState(temporary, states, { [META_KEY]: JSON.stringify(meta) }),
    );
  } finally {
    scope.close();
  }
}

/** Reads a checkpoint file. @throws CodedError `invalid_checkpoint` when parts are missing or damaged */
export async function readCheckpoint(scope: Scope, path: string): Promise<Checkpoint> {
  const { states, metadata } = await scope.loadState(path);
  const { [MODEL]: model, [OPTIMIZER]: optimizer } = states;
  if (!model || !optimizer) {
    throw damaged(
      path,
      `it holds ${Object.keys(states).join(', ') || 'nothing'}, a checkpoint holds ${MODEL} and ${OPTIMIZER}`,
    );
  }
  return { model, optimizer, meta: parseMeta(metadata[META_KEY], path) };
}

function parseMeta(text: string | undefined, path: string): CheckpointMeta {
  if (text === undefined) throw damaged(path, 'its JSON part is missing');
  let meta: unknown;
  try {
    meta = JSON.parse(text);
  } catch {
    throw damaged(path, 'its JSON part is not JSON');
  }
  const { epoch, losses } = (meta ?? {}) as Partial<Record<string, unknown>>;
  if (!Number.isSafeInteger(epoch) || (epoch as number) < 0) {
    throw damaged(path, `its epoch is ${JSON.stringify(epoch)}, it must be a whole number of at least 0`);
  }
  if (
    losses !== undefined &&
    !(Array.isArray(losses) && losses.every((loss) => typeof loss === 'number' || loss === null))
  ) {
    throw damaged(path, 'its losses are not a list of numbers');
  }
  // JSON writes what is not finite as null.
  const finite = losses as readonly (number | null)[] | undefined;
  return { ...(meta as CheckpointMeta), ...(finite && { losses: finite.map((loss) => loss ?? NaN) }) };
}

function damaged(path: string, what: string): CodedError {
  return new CodedError('invalid_checkpoint', `${path} is not a checkpoint of this program: ${what}`, { path });
}
