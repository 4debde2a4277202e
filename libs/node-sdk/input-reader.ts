import type { ModuleRef, OptimizerRef, TensorRef } from '@cdui/tensor/runtime';
import { CodedError } from '@cdui/protocol';
import {
  describeValue,
  isDataLoader,
  isDataset,
  isList,
  isLoss,
  isModel,
  isOptimizer,
  isScheduler,
  isTensor,
  isTransform,
} from './kinds';
import type { NodeInputs } from './node';
import type { NodeLabel } from './node-label';
import { describeNode } from './node-label';
import type { DataLoaderValue, DatasetValue, LossValue, PortValue, SchedulerValue, TransformValue } from './values';

/**
 * The values that arrived at a node, read by port and by type. Each reader throws a `CodedError` that names node, port, the wanted
 * and the given value: `missing_input` or `wrong_input_type`. The `optional` ones give null for an unwired port.
 * A port that carries nothing (null) counts as unwired.
 */
export class InputReader {
  constructor(
    private readonly values: NodeInputs,
    private readonly node: NodeLabel,
  ) {}

  has(port: string): boolean {
    return this.raw(port) !== null;
  }

  /** The value as it came, null when nothing did. */
  raw(port: string): PortValue {
    return this.values[port] ?? null;
  }

  any(port: string): PortValue {
    const value = this.raw(port);
    if (value === null) this.fail(port, 'a value', value);
    return value;
  }

  tensor(port: string): TensorRef {
    return this.read(port, 'a tensor', isTensor);
  }
  optionalTensor(port: string): TensorRef | null {
    return this.optional(port, 'a tensor', isTensor);
  }
  model(port: string): ModuleRef {
    return this.read(port, 'a model', isModel);
  }
  optionalModel(port: string): ModuleRef | null {
    return this.optional(port, 'a model', isModel);
  }
  optimizer(port: string): OptimizerRef {
    return this.read(port, 'an optimizer', isOptimizer);
  }
  optionalOptimizer(port: string): OptimizerRef | null {
    return this.optional(port, 'an optimizer', isOptimizer);
  }
  dataset(port: string): DatasetValue {
    return this.read(port, 'a data set', isDataset);
  }
  dataLoader(port: string): DataLoaderValue {
    return this.read(port, 'a data loader', isDataLoader);
  }
  optionalDataLoader(port: string): DataLoaderValue | null {
    return this.optional(port, 'a data loader', isDataLoader);
  }
  loss(port: string): LossValue {
    return this.read(port, 'a loss function', isLoss);
  }
  scheduler(port: string): SchedulerValue {
    return this.read(port, 'a learning-rate scheduler', isScheduler);
  }
  optionalScheduler(port: string): SchedulerValue | null {
    return this.optional(port, 'a learning-rate scheduler', isScheduler);
  }
  transform(port: string): TransformValue {
    return this.read(port, 'a transform', isTransform);
  }
  optionalTransform(port: string): TransformValue | null {
    return this.optional(port, 'a transform', isTransform);
  }
  number(port: string): number {
    return this.read(port, 'a number', isNumber);
  }
  optionalNumber(port: string): number | null {
    return this.optional(port, 'a number', isNumber);
  }
  text(port: string): string {
    return this.read(port, 'a text', isText);
  }
  list(port: string): readonly PortValue[] {
    return this.read(port, 'a list', isList);
  }
  optionalList(port: string): readonly PortValue[] | null {
    return this.optional(port, 'a list', isList);
  }

  /** For values that only the node itself can judge (an ANY port): throws `wrong_input_type` about this port. */
  reject(port: string, wanted: string): never {
    return this.fail(port, wanted, this.raw(port));
  }

  private read<T extends PortValue>(port: string, wanted: string, is: (value: PortValue) => value is T): T {
    const value = this.raw(port);
    return is(value) ? value : this.fail(port, wanted, value);
  }

  private optional<T extends PortValue>(port: string, wanted: string, is: (value: PortValue) => value is T): T | null {
    return this.has(port) ? this.read(port, wanted, is) : null;
  }

  private fail(port: string, wanted: string, value: PortValue): never {
    const got = describeValue(value);
    const missing = value === null;
    throw new CodedError(
      missing ? 'missing_input' : 'wrong_input_type',
      `${describeNode(this.node)}: input "${port}" needs ${wanted}, got ${got}${missing ? '; connect it' : ''}`,
      { node_id: this.node.id, type: this.node.type, port, wanted, got },
    );
  }
}

const isNumber = (value: PortValue): value is number => typeof value === 'number';
const isText = (value: PortValue): value is string => typeof value === 'string';
