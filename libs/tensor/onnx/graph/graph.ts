import type { Shape } from '../../runtime';
import { typedData, type NumericArray } from './data';
import type { AttributeValue, GraphDType, Op, Value, Vjp } from './value';

/** Shape and element type of one output of an op. */
export interface OutputSpec {
  readonly shape: Shape;
  readonly dtype: GraphDType;
}

export interface OpOptions {
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
  readonly domain?: '' | 'com.microsoft';
  readonly vjp?: Vjp;
  readonly differentiable?: readonly Value[];
}

/** Constants up to this many elements are compared by content and shared. */
const SHARED_SIZE = 64;

/** An expression graph under construction. Small constants are shared; nothing is emitted that no output needs. */
export class Graph {
  private nextId = 1;
  private readonly sharedConstants = new Map<string, Value>();
  private readonly inputsByName = new Map<string, Value>();

  /** Declares a graph input, or returns the one of that name. */
  input(name: string, shape: Shape, dtype: GraphDType = 'float32'): Value {
    const known = this.inputsByName.get(name);
    if (known) return known;
    const value: Value = { id: this.nextId++, shape, dtype, op: null, inputName: name };
    this.inputsByName.set(name, value);
    return value;
  }

  /** `data` must have the dtype's typed array: Float32Array, BigInt64Array for int64, Uint8Array for bool. */
  constant(dtype: GraphDType, shape: Shape, data: NumericArray): Value {
    const key = data.length <= SHARED_SIZE ? `${dtype}|${shape.join()}|${contents(data)}` : null;
    const known = key === null ? undefined : this.sharedConstants.get(key);
    if (known) return known;
    const value: Value = { id: this.nextId++, shape, dtype, op: null, constant: data };
    if (key !== null) this.sharedConstants.set(key, value);
    return value;
  }

  /** A constant from plain numbers. */
  numbers(dtype: GraphDType, shape: Shape, values: ArrayLike<number>): Value {
    return this.constant(dtype, shape, typedData(dtype, values));
  }

  scalar(value: number, dtype: GraphDType = 'float32'): Value {
    return this.numbers(dtype, [], [value]);
  }

  /** A 1-D int64 constant: shapes, axes, split sizes. */
  ints(values: readonly number[]): Value {
    return this.numbers('int64', [values.length], values);
  }

  /** Adds an ONNX node and returns its outputs. */
  op(
    type: string,
    inputs: readonly (Value | null)[],
    outputs: readonly OutputSpec[],
    options: OpOptions = {},
  ): readonly Value[] {
    const values: Value[] = [];
    const op: Op = {
      type,
      domain: options.domain ?? '',
      inputs,
      outputs: values,
      attributes: options.attributes ?? {},
      ...(options.vjp ? { vjp: options.vjp } : {}),
      ...(options.differentiable ? { differentiable: options.differentiable } : {}),
    };
    for (const output of outputs) values.push({ id: this.nextId++, shape: output.shape, dtype: output.dtype, op });
    return values;
  }

  /** An ONNX node with one output. */
  op1(type: string, inputs: readonly (Value | null)[], output: OutputSpec, options: OpOptions = {}): Value {
    return this.op(type, inputs, [output], options)[0]!;
  }
}

/** Bytes, so that 0 and -0 stay apart. */
function contents(data: NumericArray): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1');
}
