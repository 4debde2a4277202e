import { CodedError } from '@cdui/protocol';
import { defineNode, type InputReader } from '@cdui/node-sdk';
import type { Scope, TensorRef } from '@cdui/tensor/runtime';
import { ResidentDataset, type ResidentField } from './resident-dataset';

/**
 * Makes a data set of tensors, so that a table can be trained on: features `[N, ...]` and either a list of N labels, which become
 * class numbers in sorted order, or a tensor of N targets.
 */
export const tensorDatasetNode = defineNode({
  name: 'TensorDataset',
  category: 'Data',
  description: 'Makes a data set of a tensor of rows and their labels or targets.',
  inputs: {
    features: ['TENSOR', 'One row per index of dimension 0'],
    labels: ['LIST?', 'One label per row; becomes class numbers'],
    targets: ['TENSOR?', 'One target per row: class numbers (int64) or values (float32)'],
    classes: ['LIST?', 'Order of the class names, as another TensorDataset gives it'],
  },
  outputs: { dataset: 'DATASET', classes: ['LIST', 'Class names in the order of their numbers'] },
  execute({ scope }, inputs) {
    const features = inputs.tensor('features');
    const count = features.shape[0] ?? 0;
    if (features.shape.length === 0 || count === 0) inputs.reject('features', 'a tensor with at least one row');
    const labels = inputs.optionalList('labels');
    const targets = inputs.optionalTensor('targets');
    if (labels && targets) inputs.reject('targets', 'nothing while labels are connected: give one of the two');
    const fields: ResidentField[] = [{ name: 'features', tensor: features }];
    let classes: readonly string[] | null = null;
    if (labels) {
      sameLength(inputs, 'labels', labels.length, count);
      const names = labels.map(String);
      classes = inputs.optionalList('classes')?.map(String) ?? sortedClasses(names);
      fields.push({ name: 'label', tensor: classNumbers(scope, names, classes) });
    } else if (targets) {
      sameLength(inputs, 'targets', targets.shape[0] ?? 0, count);
      fields.push({ name: 'target', tensor: targets });
    }
    return { dataset: new ResidentDataset('TensorDataset', fields, classes), classes: classes ?? [] };
  },
});

/** Distinct labels: by value when all are numbers, else by code units. */
export function sortedClasses(labels: readonly string[]): readonly string[] {
  const distinct = [...new Set(labels)];
  const numeric = distinct.every((label) => label.trim() !== '' && Number.isFinite(Number(label)));
  return numeric ? distinct.sort((a, b) => Number(a) - Number(b)) : distinct.sort();
}

function classNumbers(scope: Scope, labels: readonly string[], classes: readonly string[]): TensorRef {
  const numbers = new Map(classes.map((name, number) => [name, BigInt(number)]));
  const data = BigInt64Array.from(labels, (label, row) => {
    const number = numbers.get(label);
    if (number === undefined) {
      throw new CodedError(
        'unknown_class',
        `Row ${row + 1} has the label "${label}", the classes are ${classes.slice(0, 10).join(', ')}: correct the label or connect other classes`,
        { row: row + 1, label, classes: classes.slice(0, 100) },
      );
    }
    return number;
  });
  return scope.upload({ shape: [labels.length], dtype: 'int64', data });
}

function sameLength(inputs: InputReader, port: string, given: number, wanted: number): void {
  if (given !== wanted) inputs.reject(port, `one entry for each of the ${wanted} rows of features (it has ${given})`);
}
