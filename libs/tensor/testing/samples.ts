import { ACTIVATIONS, type HostTensor, type LossSpec, type OpName, type OpTable } from '../runtime';
import { host, randoms } from './tensors';

type Sample<N extends OpName> = readonly [inputs: readonly HostTensor[], attrs: OpTable[N]];
type Samples = { readonly [N in OpName]: readonly Sample<N>[] };

export const x = randoms([2, 3, 4], 1);
const y = randoms([3, 1], 2);
const image = randoms([2, 4, 7, 6], 3);
const whole = host('int64', [2, 3], [1, -2, 3, 4, 0, 6]);
export const truth = host('bool', [2, 3], [1, 0, 0, 1, 1, 0]);
const positive = host('float32', [2, 3], [0.5, 1, 2, 3, 0.1, 9]);
export const index = host('int64', [3], [1, 0, 1]);
const narrow = host('int32', [3], [3, -4, 5]);
const bytes = host('uint8', [2, 3], [0, 1, 2, 200, 4, 255]);
const double = host('float64', [2, 3], [0.5, 1, -2, 3, 0.25, 9]);

/** Mixed and narrow dtypes, where a runtime has to convert as PyTorch does. */
export const DTYPE_SAMPLES: readonly (readonly [OpName, readonly HostTensor[], object])[] = [
  ['add', [whole, narrow], {}],
  ['add', [double, positive], {}],
  ['sub', [bytes, narrow], {}],
  ['mul', [truth, bytes], {}],
  ['mul', [host('int64', [], [3]), narrow], {}],
  ['div', [bytes, narrow], {}],
  ['div', [double, double], {}],
  ['maximum', [bytes, whole], {}],
  ['equal', [bytes, whole], {}],
  ['greater', [truth, positive], {}],
  ['less', [double, narrow], {}],
  ['logicalAnd', [whole, bytes], {}],
  ['logicalNot', [positive], {}],
  ['where', [truth, whole, positive], {}],
  ['pow', [whole], { exponent: 2 }],
  ['pow', [bytes], { exponent: 0.5 }],
  ['neg', [narrow], {}],
  ['abs', [whole], {}],
  ['exp', [truth], {}],
  ['sqrt', [bytes], {}],
  ['cos', [double], {}],
  ['clamp', [whole], { min: 0 }],
  ['clamp', [narrow], { min: 0.5, max: 2.5 }],
  ['clamp', [double], { max: 1 }],
  ['affine', [whole], { scale: 2, shift: 1 }],
  ['affine', [truth], { scale: 2 }],
  ['affine', [bytes], { scale: 0.5, dtype: 'float64' }],
  ['activation', [narrow], { function: 'relu' }],
  ['activation', [double], { function: 'tanh' }],
  ['cast', [double], { dtype: 'bool' }],
  ['cast', [positive], { dtype: 'uint8' }],
  ['cast', [bytes], { dtype: 'int32' }],
  ['sum', [narrow], {}],
  ['sum', [bytes], { dim: 1 }],
  ['sum', [double], { dim: 0 }],
  ['mean', [double], {}],
  ['var', [double], { dim: 1 }],
  ['norm', [double], {}],
  ['amax', [bytes], { dim: 0 }],
  ['amin', [truth], {}],
  ['argmax', [whole], { dim: 1 }],
  ['argmin', [bytes], {}],
  ['cumsum', [truth], { dim: 1 }],
  ['cumsum', [narrow], { dim: 0 }],
  ['topk', [whole], { dim: 1, k: 2 }],
  ['sort', [bytes], { dim: 1 }],
  ['matmul', [double, host('float64', [3, 2], [1, 2, 3, 4, 5, 6])], {}],
  ['matmul', [whole, host('int64', [3], [1, 2, 3])], {}],
  ['permute', [truth], { dims: [1, 0] }],
  ['expand', [bytes], { shape: [2, 2, 3] }],
  ['concat', [whole, positive], { dim: 0 }],
  ['concat', [truth, bytes], { dim: 1 }],
  ['stack', [narrow, index], { dim: 0 }],
  ['slice', [truth], { ranges: [{ index: 1 }] }],
  ['indexSelect', [bytes, host('int32', [2], [1, 0])], { dim: 0 }],
  ['gather', [truth, host('int32', [2, 1], [2, 0])], { dim: 1 }],
  ['flip', [bytes], { dims: [1] }],
  ['pad', [whole], { pads: [1, 1], value: 7 }],
  ['pad', [truth], { pads: [1, 1], value: 1 }],
  ['softmax', [double], { dim: 1 }],
  ['oneHot', [host('int32', [3], [0, 2, 1])], { classes: 3 }],
  ['full', [], { shape: [2], value: 1, dtype: 'bool' }],
  ['arange', [], { start: 0, end: 3, step: 1, dtype: 'uint8' }],
];

/** At least one call of every op; the type makes the table complete. */
export const SAMPLES: Samples = {
  add: [
    [[x, y], { alpha: 2 }],
    [[whole, index], {}],
  ],
  sub: [[[x, y], {}]],
  mul: [
    [[x, y], {}],
    [[whole, positive], {}],
  ],
  div: [
    [[x, randoms([4], 5)], {}],
    [[index, host('int64', [3], [2, 3, 4])], {}],
  ],
  pow: [
    [[positive], { exponent: 2.5 }],
    [[positive, positive], {}],
    [[whole], { exponent: 2 }],
  ],
  maximum: [[[x, y], {}]],
  minimum: [[[x, y], {}]],
  equal: [[[whole, index], {}]],
  greater: [[[x, y], {}]],
  less: [[[x, y], {}]],
  logicalAnd: [[[truth, truth], {}]],
  logicalNot: [[[truth], {}]],
  where: [[[truth, positive, randoms([2, 3])], {}]],
  lerp: [
    [[x, y], { weight: 0.25 }],
    [[x, x, y], {}],
  ],
  affine: [
    [[host('uint8', [4], [0, 1, 128, 255])], { scale: 1 / 255, shift: -0.5 }],
    [[x], { scale: 2 }],
  ],
  neg: [
    [[x], {}],
    [[whole], {}],
  ],
  abs: [[[x], {}]],
  exp: [[[x], {}]],
  log: [[[positive], {}]],
  sqrt: [[[positive], {}]],
  rsqrt: [[[positive], {}]],
  sin: [[[x], {}]],
  cos: [[[x], {}]],
  erf: [[[x], {}]],
  clamp: [
    [[x], { min: -0.5, max: 0.5 }],
    [[x], { min: 0 }],
  ],
  activation: ACTIVATIONS.map((name): Sample<'activation'> => [[x], { function: name }]),
  cast: [
    [[x], { dtype: 'int64' }],
    [[whole], { dtype: 'float32' }],
    [[truth], { dtype: 'float32' }],
  ],
  sum: [
    [[x], {}],
    [[x], { dim: [0, -1], keepdim: true }],
    [[truth], {}],
  ],
  mean: [[[x], { dim: 1 }]],
  amax: [[[x], { dim: -1 }]],
  amin: [[[x], {}]],
  var: [
    [[x], { dim: 2 }],
    [[x], { dim: [1, 2], correction: 0 }],
  ],
  norm: [[[x], { dim: 0, keepdim: true }]],
  argmax: [
    [[x], { dim: 1 }],
    [[x], {}],
  ],
  argmin: [[[x], { dim: -1, keepdim: true }]],
  cumsum: [[[x], { dim: 1 }]],
  topk: [[[x], { dim: -1, k: 2 }]],
  sort: [[[x], { dim: 1, descending: true }]],
  matmul: [
    [[x, randoms([4, 5])], {}],
    [[randoms([4]), randoms([4])], {}],
    [[x, randoms([4])], {}],
  ],
  reshape: [[[x], { shape: [-1, 2] }]],
  permute: [[[x], { dims: [2, 0, 1] }]],
  squeeze: [
    [[y], {}],
    [[y], { dim: 1 }],
  ],
  unsqueeze: [[[x], { dim: -1 }]],
  expand: [[[y], { shape: [2, -1, 4] }]],
  concat: [[[x, x], { dim: -2 }]],
  stack: [[[x, x], { dim: 1 }]],
  chunk: [[[x], { dim: 1, chunks: 2 }]],
  slice: [[[x], { ranges: [{ index: -1 }, { start: 1 }, { start: 3, stop: 0, step: -2 }] }]],
  indexSelect: [[[x, index], { dim: 0 }]],
  gather: [[[positive, host('int64', [2, 2], [0, 2, 1, 1])], { dim: 1 }]],
  flip: [[[x], { dims: [0, 2] }]],
  pad: [[[x], { pads: [1, 2, 0, -1], value: 3 }]],
  softmax: [[[x], { dim: 1 }]],
  logSoftmax: [[[x], { dim: -1 }]],
  oneHot: [[[index], { classes: 3 }]],
  conv1d: [[[randoms([2, 4, 9]), randoms([6, 2, 3]), randoms([6])], { groups: 2, stride: 2, padding: 1 }]],
  conv2d: [
    [[image, randoms([6, 4, 3, 2])], { stride: [2, 1], padding: [1, 0] }],
    [[image, randoms([4, 1, 3, 3]), randoms([4])], { groups: 4, dilation: 2 }],
  ],
  convTranspose2d: [[[image, randoms([4, 3, 3, 3])], { stride: 2, padding: 1, outputPadding: 1 }]],
  maxPool2d: [
    [[image], { kernelSize: 2 }],
    [[image], { kernelSize: 3, stride: 2, padding: 1 }],
  ],
  avgPool2d: [
    [[image], { kernelSize: 2 }],
    [[image], { kernelSize: 3, stride: 1, padding: 1, countIncludePad: false }],
  ],
  adaptiveAvgPool2d: [
    [[image], { outputSize: 1 }],
    [[image], { outputSize: [3, 2] }],
  ],
  upsample: [
    [[image], { mode: 'nearest', scaleFactor: 2 }],
    [[image], { mode: 'bilinear', scaleFactor: 2 }],
  ],
  dropout: [[[x], { p: 0.5 }]],
  full: [
    [[], { shape: [2, 3], value: 1.5, dtype: 'float32' }],
    [[], { shape: [], value: 7, dtype: 'int64' }],
  ],
  arange: [
    [[], { start: 0, end: 5, step: 2, dtype: 'int64' }],
    [[], { start: 1, end: 0, step: -0.25, dtype: 'float32' }],
  ],
  rand: [[[], { shape: [3, 2] }]],
  randn: [[[], { shape: [3, 2], mean: 5, std: 0.1 }]],
  randint: [[[], { shape: [4], low: 3, high: 9 }]],
  randperm: [[[], { n: 6 }]],
  loss: [[[randoms([4, 3]), host('int64', [4], [0, 2, 1, 1])], { type: 'CrossEntropy' }]],
  clone: [[[x], {}]],
  detach: [[[x], {}]],
};

/** Constructor arguments and inputs of every layer. */
export const LAYER_SAMPLES: Readonly<Record<string, readonly (readonly [Record<string, unknown>, ...HostTensor[]])[]>> =
  {
    Linear: [
      [{ in_features: 4, out_features: 5 }, x],
      [{ in_features: 4, out_features: 2, bias: false }, randoms([3, 4])],
    ],
    Conv2d: [
      [{ in_channels: 4, out_channels: 6, kernel_size: 3, stride: 2, padding: 1, groups: 2 }, image],
      [{ in_channels: 4, out_channels: 2, kernel_size: [2, 3], padding: 'same', dilation: 2, bias: false }, image],
    ],
    MaxPool2d: [
      [{ kernel_size: 2 }, image],
      [{ kernel_size: 3, stride: 1, padding: 1 }, image],
    ],
    AvgPool2d: [
      [{ kernel_size: 2 }, image],
      [{ kernel_size: 3, padding: 1, count_include_pad: false }, image],
    ],
    AdaptiveAvgPool2d: [
      [{ output_size: 1 }, image],
      [{ output_size: [null, 3] }, image],
    ],
    BatchNorm1d: [
      [{ num_features: 3 }, x],
      [{ num_features: 4, affine: false }, randoms([5, 4])],
    ],
    BatchNorm2d: [[{ num_features: 4 }, image]],
    LayerNorm: [
      [{ normalized_shape: 4 }, x],
      [{ normalized_shape: [3, 4], elementwise_affine: false }, x],
    ],
    Dropout: [[{ p: 0.3 }, x]],
    Flatten: [
      [{}, image],
      [{ start_dim: -2 }, image],
    ],
    Reshape: [[{ shape: '2,-1' }, image]],
    SelectIndex: [[{ dim: 1, index: -1 }, x]],
    Embedding: [[{ num_embeddings: 7, embedding_dim: 3, padding_idx: 0 }, host('int64', [2, 3], [0, 1, 6, 2, 0, 5])]],
    MultiHeadAttention: [
      [{ embed_dim: 4, num_heads: 2, batch_first: true }, x],
      [{ embed_dim: 4, num_heads: 1, bias: false }, randoms([5, 2, 4]), randoms([3, 2, 4]), randoms([3, 2, 4])],
    ],
    ReLU: [[{}, x]],
    GELU: [
      [{}, x],
      [{ approximate: 'tanh' }, x],
    ],
    Sigmoid: [[{}, x]],
    Tanh: [[{}, x]],
    LeakyReLU: [[{ negative_slope: 0.2 }, x]],
    ELU: [[{}, x]],
    SiLU: [[{}, x]],
    Mish: [[{}, x]],
    SELU: [[{}, x]],
    PReLU: [
      [{}, x],
      [{ num_parameters: 3 }, x],
    ],
    Hardswish: [[{}, x]],
    Softmax: [
      [{}, x],
      [{ dim: 1 }, x],
    ],
    Add: [[{}, x, x, y]],
    Subtract: [[{}, x, y]],
    Multiply: [[{}, x, y]],
    Mean: [[{}, x, x]],
    Concat: [[{}, x, x]],
    Stack: [[{}, x, x]],
  };

export const LOSSES: readonly (readonly [string, LossSpec, HostTensor, HostTensor])[] = [
  ['CrossEntropy', { type: 'CrossEntropy', labelSmoothing: 0.1 }, randoms([4, 3]), host('int64', [4], [0, 2, 1, 1])],
  [
    'CrossEntropy sum, weighted',
    { type: 'CrossEntropy', reduction: 'sum', weight: [1, 2, 3] },
    randoms([4, 3]),
    host('int64', [4], [0, 2, 1, 1]),
  ],
  [
    'CrossEntropy none, over places',
    { type: 'CrossEntropy', reduction: 'none' },
    randoms([2, 3, 4]),
    host('int64', [2, 4], [0, 1, 2, 2, 1, 0, -100, 1]),
  ],
  ['MSE', { type: 'MSE' }, randoms([4, 3]), randoms([4, 3], 2)],
  ['MSE none', { type: 'MSE', reduction: 'none' }, randoms([4, 3]), randoms([4, 3], 2)],
  [
    'BCEWithLogits',
    { type: 'BCEWithLogits', posWeight: [3] },
    randoms([4, 3]),
    host('float32', [4, 3], [1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1]),
  ],
];
