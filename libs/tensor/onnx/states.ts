import type { Tensor } from 'onnxruntime-node';
import { RuntimeError, showShape, type DType, type ParamMeta, type Shape } from '../runtime';
import type { ModuleValue } from './modules';
import type { StateValue } from './objects';
import { STEP_ENTRY, type OptimizerValue } from './optimizers';
import { aliasOf, converted, dataOf, metaOf } from './tensors';

/** What the module or optimiser holds now; it costs no memory, because its tensors never change. */
export function snapshot(source: ModuleValue | OptimizerValue): StateValue {
  if (source.kind === 'optimizer') return { kind: 'state', tensors: source.entries() };
  return { kind: 'state', tensors: new Map(source.names.map((name, at) => [name, source.tensors[at]!])) };
}

interface Wanted {
  readonly name: string;
  readonly shape: Shape;
  readonly dtype: DType;
  set(tensor: Tensor): void;
}

/**
 * Puts named tensors back, converted to the dtype that is there. Names that are missing or unknown are reported; `strict` makes them errors,
 * and nothing is changed then. Another shape is always an error, as in PyTorch.
 * @throws RuntimeError `invalid_argument` (strict), `shape_mismatch`
 */
export function restore(
  target: ModuleValue | OptimizerValue,
  state: StateValue,
  strict: boolean,
): { missing: string[]; unexpected: string[] } {
  const wanted = target.kind === 'module' ? moduleEntries(target) : optimizerEntries(target);
  const names = new Set(wanted.map(({ name }) => name));
  const missing = wanted.filter(({ name }) => !state.tensors.has(name)).map(({ name }) => name);
  const unexpected = [...state.tensors.keys()].filter((name) => !names.has(name));
  if (strict && (missing.length || unexpected.length)) {
    const parts = [
      ...(missing.length ? [`missing: ${list(missing)}`] : []),
      ...(unexpected.length ? [`unexpected: ${list(unexpected)}`] : []),
    ];
    throw new RuntimeError('invalid_argument', `the state does not fit the ${target.kind}: ${parts.join('; ')}`);
  }
  const given = wanted.flatMap((entry) => {
    const tensor = state.tensors.get(entry.name);
    return tensor ? [{ entry, tensor }] : [];
  });
  const bad = given.filter(({ entry, tensor }) => showShape(tensor.dims) !== showShape(entry.shape));
  if (bad.length) {
    const lines = bad.map(
      ({ entry, tensor }) => `${entry.name} is ${showShape(tensor.dims)}, not ${showShape(entry.shape)}`,
    );
    throw new RuntimeError('shape_mismatch', `the state does not fit the ${target.kind}: ${list(lines)}`);
  }
  for (const { entry, tensor } of given) entry.set(aliasOf(converted(tensor, entry.dtype)));
  if (target.kind === 'module') target.version++;
  return { missing, unexpected };
}

function moduleEntries(module: ModuleValue): readonly Wanted[] {
  return module.metas.map((meta, at) => ({ ...meta, set: (tensor) => (module.tensors[at] = tensor) }));
}

function optimizerEntries(optimizer: OptimizerValue): readonly Wanted[] {
  const step: Wanted = {
    name: STEP_ENTRY,
    shape: [],
    dtype: 'float32',
    set: (tensor) => (optimizer.step = Math.round(Number(dataOf(tensor)[0]))),
  };
  const slots = optimizer.slots.map(({ name, shape }, at): Wanted => ({
    name,
    shape,
    dtype: 'float32',
    set: (tensor) => (optimizer.tensors[at] = tensor),
  }));
  return [step, ...slots];
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}

export function entriesOf(state: StateValue): readonly ParamMeta[] {
  return [...state.tensors].map(([name, tensor]) => ({ name, ...metaOf(tensor), trainable: true }));
}
