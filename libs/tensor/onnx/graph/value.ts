import type { DType, Shape } from '../../runtime';

/** Element types inside a compiled graph (float16 never crosses the seam). */
export type GraphDType = DType | 'float16';

/** Attributes of an ONNX node. Integers and floats are told apart by `float()`, because both are JavaScript numbers. */
export type AttributeValue = number | string | readonly number[] | FloatAttribute;

export interface FloatAttribute {
  readonly float: number;
}

/** A typed, shaped edge of the expression graph. Shapes are always static. */
export interface Value {
  readonly id: number;
  readonly shape: Shape;
  readonly dtype: GraphDType;
  /** Null for inputs and constants. */
  readonly op: Op | null;
  /** Set for graph inputs: the feed's name. */
  readonly inputName?: string;
  /** Set for constants. */
  readonly constant?: ArrayBufferView;
}

/**
 * A vector-Jacobian product: gradients of the op's outputs (null where none reaches) to gradients of its inputs
 * (null where an input is not differentiable). A thunk is only evaluated when that gradient is needed.
 */
export type Vjp = (outputGradients: readonly (Value | null)[]) => readonly (Value | null | (() => Value))[];

/** One ONNX node. A composite may carry a hand-derived `vjp` over `differentiable` values instead of its inputs. */
export interface Op {
  readonly type: string;
  readonly domain: '' | 'com.microsoft';
  /** Null marks an omitted optional input. */
  readonly inputs: readonly (Value | null)[];
  readonly outputs: readonly Value[];
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  vjp?: Vjp;
  /** What `vjp` returns gradients for, where that is not `inputs`. */
  differentiable?: readonly Value[];
}
