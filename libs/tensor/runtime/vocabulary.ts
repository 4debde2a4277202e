import type { DType, Shape } from './values';

export interface TensorMeta {
  readonly shape: Shape;
  readonly dtype: DType;
}
/** One row per op. `infer` throws `shape_mismatch` or `invalid_argument`; both runtimes must return exactly what it says. */
export interface OpDef<A, N = A> {
  readonly arity: number | readonly [min: number, max: number];
  readonly random?: boolean;
  readonly differentiable: boolean;
  /** Fills PyTorch's defaults and resolves negative dims; accepts what it returned before. */
  normalise(attrs: A, inputs: readonly TensorMeta[]): N;
  infer(inputs: readonly TensorMeta[], attrs: A): readonly TensorMeta[];
}
type Dim = { dim: number };
type Reduce = { dim?: number | readonly number[]; keepdim?: boolean };
type None = Record<string, never>;
/** Op name -> attributes, PyTorch's names, defaults and dim conventions. No op has a shape that depends on data. */
export interface OpTable {
  add: { alpha?: number };
  sub: { alpha?: number };
  mul: None;
  div: None;
  pow: { exponent?: number };
  maximum: None;
  minimum: None;
  equal: None;
  greater: None;
  less: None;
  logicalAnd: None;
  logicalNot: None;
  where: None;
  lerp: { weight?: number };
  affine: { scale?: number; shift?: number; dtype?: DType };
  neg: None;
  abs: None;
  exp: None;
  log: None;
  sqrt: None;
  rsqrt: None;
  sin: None;
  cos: None;
  erf: None;
  clamp: { min?: number; max?: number };
  activation: { function: Activation; slope?: number };
  cast: { dtype: DType };
  sum: Reduce;
  mean: Reduce;
  amax: Reduce;
  amin: Reduce;
  var: Reduce & { correction?: number };
  norm: Reduce;
  argmax: Partial<Dim> & { keepdim?: boolean };
  argmin: Partial<Dim> & { keepdim?: boolean };
  cumsum: Dim;
  topk: Dim & { k: number };
  sort: Dim & { descending?: boolean };
  matmul: None;
  reshape: { shape: Shape };
  permute: { dims: readonly number[] };
  squeeze: Partial<Dim>;
  unsqueeze: Dim;
  expand: { shape: Shape };
  concat: Dim;
  stack: Dim;
  chunk: Dim & { chunks: number };
  slice: { ranges: readonly SliceRange[] };
  indexSelect: Dim;
  gather: Dim;
  flip: { dims: readonly number[] };
  pad: { pads: readonly number[]; value?: number };
  softmax: Dim;
  logSoftmax: Dim;
  oneHot: { classes: number };
  conv1d: ConvAttrs;
  conv2d: ConvAttrs;
  convTranspose2d: ConvAttrs & { outputPadding?: Pair };
  maxPool2d: PoolAttrs;
  avgPool2d: PoolAttrs & { countIncludePad?: boolean };
  adaptiveAvgPool2d: { outputSize: Pair };
  upsample: { mode: 'nearest' | 'bilinear' | 'area'; scaleFactor: number };
  dropout: { p: number };
  full: { shape: Shape; value: number; dtype: DType };
  arange: { start: number; end: number; step: number; dtype: DType };
  rand: { shape: Shape };
  randn: { shape: Shape; mean?: number; std?: number };
  randint: { shape: Shape; low: number; high: number };
  randperm: { n: number };
  loss: LossSpec;
  clone: None;
  detach: None;
}
export type OpName = keyof OpTable;
export type Activation =
  | 'relu'
  | 'gelu'
  | 'sigmoid'
  | 'tanh'
  | 'leaky_relu'
  | 'elu'
  | 'silu'
  | 'mish'
  | 'selu'
  | 'prelu'
  | 'hardswish'
  | 'softmax';
export type Pair = number | readonly [number, number];
export interface ConvAttrs {
  stride?: Pair;
  padding?: Pair;
  dilation?: Pair;
  groups?: number;
}
export interface PoolAttrs {
  kernelSize: Pair;
  stride?: Pair;
  padding?: Pair;
}
/** start/stop/step as in numpy, or one index (drops the axis). */
export type SliceRange = { index: number } | { start?: number; stop?: number; step?: number };
/** A DAG of layers (own weights), ops (no weights) and other modules; ports as in the graph format. */
export interface ModuleSpec {
  readonly inputs: readonly string[];
  readonly outputs: readonly { port: string; from: Source }[];
  readonly nodes: readonly ModuleNode[];
}
export type Source = { input: string } | { node: string; output?: number };
export type ModuleNode = { readonly id: string; readonly from: readonly Source[] } & (
  | { readonly layer: string; readonly params: Readonly<Record<string, unknown>> } // 'Conv2d', 'LSTM', ...: PyTorch's constructor arguments
  | { readonly op: OpName; readonly attrs: unknown }
  | { readonly module: ModuleSpec }
);
export interface LossSpec {
  readonly type:
    | 'CrossEntropy'
    | 'MSE'
    | 'BCEWithLogits'
    | 'L1'
    | 'SmoothL1'
    | 'NLL'
    | 'KLDiv'
    | 'Huber'
    | 'BCE'
    | 'MarginRanking'
    | 'CosineEmbedding';
  readonly reduction?: 'mean' | 'sum' | 'none' | 'batchmean';
  readonly labelSmoothing?: number;
  readonly ignoreIndex?: number;
  readonly weight?: readonly number[];
  readonly posWeight?: readonly number[];
}
export interface OptimizerSpec {
  readonly type: 'Adam' | 'AdamW' | 'SGD' | 'RMSprop' | 'Adagrad' | 'RAdam' | 'NAdam' | 'Rprop' | 'ASGD';
  readonly lr: number;
  readonly weightDecay?: number;
  readonly momentum?: number;
  readonly dampening?: number;
  readonly nesterov?: boolean;
  readonly betas?: readonly [number, number];
  readonly eps?: number;
  readonly amsgrad?: boolean;
}
/** Values a scheduler may change between steps. Schedulers are pure TypeScript and send only these numbers. */
export interface Hyper {
  lr?: number;
  momentum?: number;
  beta1?: number;
}
export type Precision = 'fp32' | 'bf16' | 'fp16';
