import type { PortValue } from '@cdui/node-sdk';
import { describeValue, isDataLoader, isDataset, isList, isLoss, isModel, isOptimizer, isTensor } from '@cdui/node-sdk';
import type { PortFacts, TensorFacts, ValueFacts } from '@cdui/protocol';
import type { HostTensor, ModuleRef, Scope, TensorRef } from '@cdui/tensor/runtime';
import type { Outputs } from './handles';

/** A tensor of at most this many elements is reported whole, as is a list. */
const WHOLE = 256;
const REPR_LENGTH = 200;

/** Describes values in plain data; tensors are read through the scope of whoever looks, immutable ones only once. */
export class ValueReader {
  private readonly known = new WeakMap<TensorRef, Promise<TensorFacts>>();

  /** Facts of a node's public outputs, read side by side. */
  outputs(scope: Scope, outputs: Outputs): Promise<readonly PortFacts[]> {
    const ports = Object.entries(outputs).filter(([port]) => !port.startsWith('__'));
    return Promise.all(ports.map(async ([port, value]) => ({ port, ...(await this.value(scope, value)) })));
  }

  value(scope: Scope, value: PortValue): Promise<ValueFacts> | ValueFacts {
    return isTensor(value) ? this.tensor(scope, value) : plainFacts(value);
  }

  tensor(scope: Scope, tensor: TensorRef): Promise<TensorFacts> {
    let facts = this.known.get(tensor);
    if (!facts) {
      facts = readTensor(scope, tensor);
      this.known.set(tensor, facts);
      // Whoever awaits it sees the failure; the next one asks again.
      facts.catch(() => this.known.delete(tensor));
    }
    return facts;
  }
}

async function readTensor(scope: Scope, tensor: TensorRef): Promise<TensorFacts> {
  const { shape, dtype } = tensor;
  const base = { kind: 'tensor', shape: [...shape], dtype } as const;
  const floating = dtype === 'float32' || dtype === 'float64';
  if (elements(shape) <= WHOLE) {
    const values = numbersOf(await scope.read(tensor));
    const { min, max, mean } = summary(values);
    return { ...base, min, max, mean: floating ? mean : null, values };
  }
  const { min, max, mean } = await scope.stats(tensor);
  return { ...base, min, max, mean: floating ? mean : null, values: null };
}

/** Elements as numbers, row-major; whole numbers beyond 2^53 lose their last digits. */
export function numbersOf(tensor: HostTensor): readonly number[] {
  const { data } = tensor;
  if (data instanceof BigInt64Array) return Array.from(data, Number);
  return Array.from(data as Float32Array | Float64Array | Int32Array | Uint8Array);
}

function summary(values: readonly number[]): { min: number | null; max: number | null; mean: number | null } {
  if (values.length === 0) return { min: null, max: null, mean: null };
  let [min, max, sum] = [Infinity, -Infinity, 0];
  for (const value of values) {
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
  }
  return { min, max, mean: sum / values.length };
}

function plainFacts(value: PortValue): ValueFacts {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return { kind: 'scalar', value };
  if (typeof value === 'string') return { kind: 'string', value };
  if (isModel(value)) return { kind: 'model', class: moduleClass(value), ...parameterCounts(value) };
  if (isList(value)) {
    const repr = describeList(value);
    return { kind: 'list', length: value.length, repr, values: shortValues(value) };
  }
  return { kind: 'other', type: typeName(value), repr: describe(value) };
}

/** The layer's name of a module of one layer; else what the graph node that makes such modules is called. */
function moduleClass(module: ModuleRef): string {
  const [first, ...rest] = module.spec.nodes;
  return first && rest.length === 0 && 'layer' in first ? first.layer : 'SequentialModel';
}

function parameterCounts(module: ModuleRef): { params: number; trainable: number } {
  let [params, trainable] = [0, 0];
  for (const parameter of module.parameters) {
    if (!parameter.trainable) continue;
    params += elements(parameter.shape);
    trainable += elements(parameter.shape);
  }
  return { params, trainable };
}

function shortValues(list: readonly PortValue[]): readonly unknown[] | null {
  const pair = (item: PortValue): boolean =>
    Array.isArray(item) && item.length === 2 && item.every((part) => typeof part === 'number');
  const plain = (item: PortValue): boolean => item === null || typeof item !== 'object' || pair(item);
  return list.length <= WHOLE && list.every(plain) ? list : null;
}

function describeList(list: readonly PortValue[]): string {
  const parts: string[] = [];
  let length = 0;
  for (const item of list) {
    const part = describe(item);
    parts.push(part);
    length += part.length + 2;
    if (length > REPR_LENGTH) break;
  }
  return shorten(`[${parts.join(', ')}]`);
}

function describe(value: PortValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? String(value);
  if (isTensor(value) || isModel(value) || isList(value) || typeName(value) !== 'Object') return describeValue(value);
  return shorten(jsonOf(value));
}

/** JSON of a plain object, with the runtime's values in it in words. */
function jsonOf(value: PortValue): string {
  return JSON.stringify(value, (_key, item: PortValue) =>
    typeof item === 'object' && item !== null && !isList(item) && typeName(item) !== 'Object'
      ? describeValue(item)
      : item,
  );
}

function typeName(value: PortValue): string {
  if (isTensor(value)) return 'Tensor';
  if (isModel(value)) return 'Model';
  if (isOptimizer(value)) return 'Optimizer';
  if (isDataset(value)) return 'Dataset';
  if (isDataLoader(value)) return 'DataLoader';
  if (isLoss(value)) return 'Loss';
  return 'Object';
}

function shorten(text: string): string {
  return text.length > REPR_LENGTH ? `${text.slice(0, REPR_LENGTH - 3)}...` : text;
}

export function elements(shape: readonly number[]): number {
  return shape.reduce((count, size) => count * size, 1);
}
