import type { PortValue } from '@cdui/node-sdk';
import { describeValue, isList, isModel, isRecord, isTensor } from '@cdui/node-sdk';
import type { Scope, TensorRef } from '@cdui/tensor/runtime';
import { elementCount, nested, numbersOf } from '../host-values';

const MAX_ELEMENTS = 1000;
const MAX_ITEMS = 20;

/** A value for people to read: numbers in full while they are few, else what they have in common. */
export async function valueText(scope: Scope, value: PortValue): Promise<string> {
  if (isTensor(value)) return tensorText(scope, value);
  if (isModel(value)) {
    const count = value.parameters.reduce(
      (sum, { shape, trainable }) => sum + (trainable ? elementCount(shape) : 0),
      0,
    );
    return `model with ${count.toLocaleString('en-US')} trainable parameters`;
  }
  if (isList(value)) {
    const shown = await Promise.all(value.slice(0, MAX_ITEMS).map((item) => valueText(scope, item)));
    const rest = value.length - shown.length;
    return `[${shown.join(', ')}${rest > 0 ? `, ... ${rest} more` : ''}]`;
  }
  if (isRecord(value)) {
    const members = await Promise.all(
      Object.entries(value).map(async ([key, member]) => `${key}: ${await valueText(scope, member)}`),
    );
    return `{${members.join(', ')}}`;
  }
  if (typeof value === 'object' && value !== null) return describeValue(value);
  return String(value);
}

async function tensorText(scope: Scope, tensor: TensorRef): Promise<string> {
  const head = `tensor [${tensor.shape.join(', ')}] ${tensor.dtype}`;
  if (elementCount(tensor.shape) > MAX_ELEMENTS) {
    const { min, max, mean } = await scope.stats(tensor);
    return `${head} min ${short(min)} max ${short(max)} mean ${short(mean)}`;
  }
  const numbers = numbersOf(await scope.read(tensor));
  const isBool = tensor.dtype === 'bool';
  return `${head} ${gridText(nested(numbers, tensor.shape), isBool)}`;
}

function gridText(grid: unknown, isBool: boolean): string {
  if (Array.isArray(grid)) return `[${grid.map((item) => gridText(item, isBool)).join(', ')}]`;
  return isBool ? String(grid !== 0) : short(Number(grid));
}

/** At most six significant digits. */
function short(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
}
