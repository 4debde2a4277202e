import { bool, num, oneOf, readFields, type Field, type Fields, type IntPair, type Schema } from '../fields';
import type { DType, Shape } from '../values';
import type { Activation, LossSpec, OpName, OpTable, TensorMeta } from '../vocabulary';
import { DTYPES } from './meta';

type None = Record<string, never>;
type Dim = { readonly dim: number };
/** `dims` in ascending order; all dimensions where the caller named none. */
type NormalReduce = { readonly dim: readonly number[]; readonly keepdim: boolean };
/** `dim: null` reduces the flattened tensor. */
type NormalArg = { readonly dim: number | null; readonly keepdim: boolean };
export interface NormalConv2d {
  readonly stride: IntPair;
  readonly padding: IntPair;
  readonly dilation: IntPair;
  readonly groups: number;
}
export interface NormalPool {
  readonly kernelSize: IntPair;
  readonly stride: IntPair;
  readonly padding: IntPair;
}
/** numpy's start, stop, step within the axis; `stop: -(size + 1)` with a negative step runs to the first element. */
export type NormalRange =
  { readonly index: number } | { readonly start: number; readonly stop: number; readonly step: number };

/** What `normaliseOp` makes of `OpTable`: every default filled, pairs as [height, width], dims counted from the start. */
export interface NormalOpTable {
  add: { readonly alpha: number };
  sub: { readonly alpha: number };
  mul: None;
  div: None;
  /** `exponent: null` means that it is the second input. */
  pow: { readonly exponent: number | null };
  maximum: None;
  minimum: None;
  equal: None;
  greater: None;
  less: None;
  logicalAnd: None;
  logicalNot: None;
  where: None;
  /** `weight: null` means that it is the third input. */
  lerp: { readonly weight: number | null };
  affine: { readonly scale: number; readonly shift: number; readonly dtype: DType };
  neg: None;
  abs: None;
  exp: None;
  log: None;
  sqrt: None;
  rsqrt: None;
  sin: None;
  cos: None;
  erf: None;
  clamp: { readonly min?: number; readonly max?: number };
  /** `slope`: leaky_relu's, elu's alpha, or prelu's where it is not the second input. */
  activation: { readonly function: Activation; readonly slope: number };
  cast: { readonly dtype: DType };
  sum: NormalReduce;
  mean: NormalReduce;
  amax: NormalReduce;
  amin: NormalReduce;
  var: NormalReduce & { readonly correction: number };
  norm: NormalReduce;
  argmax: NormalArg;
  argmin: NormalArg;
  cumsum: Dim;
  topk: Dim & { readonly k: number };
  sort: Dim & { readonly descending: boolean };
  matmul: None;
  reshape: { readonly shape: Shape };
  permute: { readonly dims: readonly number[] };
  /** The dimensions to drop, all of size 1. */
  squeeze: { readonly dims: readonly number[] };
  unsqueeze: Dim;
  expand: { readonly shape: Shape };
  concat: Dim;
  stack: Dim;
  chunk: Dim & { readonly chunks: number };
  /** One entry per dimension of the input. */
  slice: { readonly ranges: readonly NormalRange[] };
  indexSelect: Dim;
  gather: Dim;
  flip: { readonly dims: readonly number[] };
  /** As in `F.pad`: [last begin, last end, second last begin, ...]; negative ones crop. */
  pad: { readonly pads: readonly number[]; readonly value: number };
  softmax: Dim;
  logSoftmax: Dim;
  oneHot: { readonly classes: number };
  conv1d: { readonly stride: number; readonly padding: number; readonly dilation: number; readonly groups: number };
  conv2d: NormalConv2d;
  convTranspose2d: NormalConv2d & { readonly outputPadding: IntPair };
  maxPool2d: NormalPool;
  avgPool2d: NormalPool & { readonly countIncludePad: boolean };
  adaptiveAvgPool2d: { readonly outputSize: IntPair };
  upsample: { readonly mode: 'nearest' | 'bilinear' | 'area'; readonly scaleFactor: number };
  dropout: { readonly p: number };
  full: { readonly shape: Shape; readonly value: number; readonly dtype: DType };
  arange: { readonly start: number; readonly end: number; readonly step: number; readonly dtype: DType };
  rand: { readonly shape: Shape };
  randn: { readonly shape: Shape; readonly mean: number; readonly std: number };
  randint: { readonly shape: Shape; readonly low: number; readonly high: number };
  randperm: { readonly n: number };
  loss: LossSpec;
  clone: None;
  detach: None;
}

/** One op as its family writes it. `normalise` may assume the right number of inputs; `infer` gets normalised attributes. */
export interface Row<A, M> {
  readonly arity: number | readonly [min: number, max: number];
  readonly random?: boolean;
  /** Whether gradients flow through it; default true. */
  readonly differentiable?: boolean;
  normalise(attrs: A, inputs: readonly TensorMeta[]): M;
  infer(inputs: readonly TensorMeta[], attrs: M): readonly TensorMeta[];
}
export type OpRow<N extends OpName> = Row<OpTable[N], NormalOpTable[N]>;
export type Rows<N extends OpName> = { readonly [K in N]: OpRow<K> };

const NO_ATTRS: None = {};

/** For ops without attributes. */
export function noAttrs(what: string): (attrs: unknown) => None {
  return (attrs) => {
    readFields({}, attrs ?? undefined, what);
    return NO_ATTRS;
  };
}

export function attrsOf<S extends Schema>(schema: S, what: string): (attrs: unknown) => Fields<S> {
  return (attrs) => readFields(schema, attrs ?? undefined, what);
}

export const dtypeField = (fallback?: DType): Field<DType> => oneOf(DTYPES, fallback);
export const keepdimField = bool(false);
export const numberField = (fallback: number): Field<number> => num({ default: fallback });
