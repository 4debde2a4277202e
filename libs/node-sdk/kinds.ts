import type { Handle, ModuleRef, OptimizerRef, TensorRef } from '@cdui/tensor/runtime';
import type {
  DataLoaderValue,
  DatasetValue,
  HandleOwner,
  LossValue,
  PortValue,
  SchedulerValue,
  TransformValue,
} from './values';

type Tagged = PortValue | undefined;

export const isTensor = (value: Tagged): value is TensorRef => kindOf(value) === 'tensor';
export const isModel = (value: Tagged): value is ModuleRef => kindOf(value) === 'module';
export const isOptimizer = (value: Tagged): value is OptimizerRef => kindOf(value) === 'optimizer';
export const isDataset = (value: Tagged): value is DatasetValue => kindOf(value) === 'dataset';
export const isDataLoader = (value: Tagged): value is DataLoaderValue => kindOf(value) === 'dataloader';
export const isLoss = (value: Tagged): value is LossValue => kindOf(value) === 'loss';
export const isScheduler = (value: Tagged): value is SchedulerValue => kindOf(value) === 'scheduler';
export const isTransform = (value: Tagged): value is TransformValue => kindOf(value) === 'transform';
export const isList = (value: Tagged): value is readonly PortValue[] => Array.isArray(value);

/** Whether the value is a plain object whose members are values themselves (metrics, statistics, decoded JSON). */
export function isRecord(value: Tagged): value is { readonly [key: string]: PortValue } {
  return typeof value === 'object' && value !== null && !isList(value) && !KINDS.has(kindOf(value) ?? '');
}

/**
 * The runtime handles that a value holds, each once. The engine keeps them alive for as long as somebody may still read the value.
 * An optimiser holds its module too: it is of no use without it.
 */
export function handlesOf(value: PortValue | undefined): readonly Handle[] {
  const found = new Set<Handle>();
  collect(value, found);
  return [...found];
}

/** A value in a few words, for error texts and logs: `a tensor [2, 3] of float32`, `a list of 4 items`, `the text "abc"`. */
export function describeValue(value: PortValue | undefined): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'boolean') return `the truth value ${value}`;
  if (typeof value === 'string')
    return `the text ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value)}`;
  if (isTensor(value)) return `a tensor [${value.shape.join(', ')}] of ${value.dtype}`;
  if (isModel(value)) return 'a model';
  if (isOptimizer(value)) return `an optimizer (${value.spec.type})`;
  if (isDataset(value)) return `the data set ${value.name} (${value.length} rows)`;
  if (isDataLoader(value)) return `a data loader over ${value.dataset.name}`;
  if (isLoss(value)) return `a loss function (${value.spec.type})`;
  if (isScheduler(value)) return `a learning-rate scheduler (${value.type})`;
  if (isTransform(value)) return 'a transform';
  if (isList(value)) return `a list of ${value.length} ${value.length === 1 ? 'item' : 'items'}`;
  return `an object with the keys ${Object.keys(value).slice(0, 5).join(', ') || '(none)'}`;
}

const KINDS: ReadonlySet<string> = new Set([
  'tensor',
  'module',
  'optimizer',
  'dataset',
  'dataloader',
  'loss',
  'scheduler',
  'transform',
]);

// Objects from decoded JSON may have a member "kind" of their own; what only values of the runtime and of nodes have tells them apart.
function kindOf(value: Tagged): string | null {
  if (typeof value !== 'object' || value === null || isList(value) || !('kind' in value)) return null;
  const { kind } = value;
  if (typeof kind !== 'string') return null;
  const members: Readonly<Record<string, unknown>> = value as object as Readonly<Record<string, unknown>>;
  switch (kind) {
    case 'tensor':
    case 'module':
    case 'optimizer':
      return typeof members['retain'] === 'function' ? kind : null;
    case 'dataset':
    case 'dataloader':
      return typeof members['handles'] === 'function' ? kind : null;
    case 'loss':
      return typeof members['spec'] === 'object' ? kind : null;
    case 'scheduler':
      return typeof members['params'] === 'object' ? kind : null;
    case 'transform':
      return Array.isArray(members['steps']) ? kind : null;
    default:
      return null;
  }
}

function collect(value: PortValue | undefined, found: Set<Handle>): void {
  if (typeof value !== 'object' || value === null) return;
  if (isTensor(value) || isModel(value)) {
    found.add(value);
  } else if (isOptimizer(value)) {
    found.add(value);
    found.add(value.module);
  } else if (isHandleOwner(value)) {
    for (const handle of value.handles()) found.add(handle);
  } else if (isList(value)) {
    for (const item of value) collect(item, found);
  } else if (isRecord(value)) {
    for (const item of Object.values(value)) collect(item, found);
  }
}

function isHandleOwner(value: PortValue): value is PortValue & HandleOwner {
  return isDataset(value) || isDataLoader(value);
}
