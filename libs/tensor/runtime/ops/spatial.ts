import { bool, int, num, oneOf, optional, pair, type IntPair } from '../fields';
import type { TensorMeta } from '../vocabulary';
import { broadcast, IMAGES, mismatch, requireFloat, requireRank, resolveDim, showShape, SIGNALS } from './meta';
import { invalid } from '../fields';
import { attrsOf, noAttrs, type NormalConv2d, type NormalPool, type OpRow, type Rows } from './row';

/** Leading and trailing padding of one axis. */
type Pads = readonly [begin: number, end: number];

/** Output size of a convolution along each axis; `kernel` without dilation. */
export function convSizes(
  sizes: readonly number[],
  kernel: readonly number[],
  stride: readonly number[],
  pads: readonly Pads[],
  dilation: readonly number[],
): readonly number[] {
  const padded = sizes.map((size, at) => size + pads[at]![0] + pads[at]![1]);
  const spread = kernel.map((size, at) => dilation[at]! * (size - 1) + 1);
  if (padded.some((size, at) => size < spread[at]!)) {
    const by = (values: readonly number[]) => `(${values.join(' x ')})`;
    throw mismatch(
      `Calculated padded input size per channel: ${by(padded)}. Kernel size: ${by(spread)}. ` +
        "Kernel size can't be greater than actual input size",
    );
  }
  return padded.map((size, at) => Math.floor((size - spread[at]!) / stride[at]!) + 1);
}

/** The weight `[out, in / groups, ...kernel]` must fit the input `[N, in, ...]`. */
function checkConv(
  x: TensorMeta,
  weight: TensorMeta,
  bias: TensorMeta | undefined,
  groups: number,
  what: string,
): void {
  const rank = what === 'conv1d' ? 3 : 4;
  requireFloat(x, what);
  requireRank(x, rank === 3 ? SIGNALS : IMAGES, what);
  if (weight.dtype !== x.dtype) {
    throw invalid(`Input type (${x.dtype}) and weight type (${weight.dtype}) should be the same`);
  }
  if (weight.shape.length !== rank) {
    throw mismatch(`${what}: expected a weight of ${rank} dimensions, got ${showShape(weight.shape)}`);
  }
  const transposed = what === 'convTranspose2d';
  const expected = transposed ? weight.shape[0]! : weight.shape[1]! * groups;
  if (x.shape[1] !== expected) {
    throw mismatch(
      `Given groups=${groups}, weight of size ${showShape(weight.shape)}, expected input${showShape(x.shape)} to have ${expected} channels, ` +
        `but got ${x.shape[1]} channels instead`,
    );
  }
  if (weight.shape[0]! % groups !== 0) {
    throw mismatch(
      `Given groups=${groups}, expected weight to be divisible by ${groups} at dimension 0, but got weight of size ${showShape(weight.shape)} instead`,
    );
  }
  const out = transposed ? weight.shape[1]! * groups : weight.shape[0]!;
  if (bias && (bias.shape.length !== 1 || bias.shape[0] !== out)) {
    throw mismatch(
      `Given weight of size ${showShape(weight.shape)}, expected bias to be 1-dimensional with ${out} elements, but got bias of size ${showShape(bias.shape)} instead`,
    );
  }
}

const CONV1D = attrsOf(
  {
    stride: int({ min: 1, default: 1 }),
    padding: int({ min: 0, default: 0 }),
    dilation: int({ min: 1, default: 1 }),
    groups: int({ min: 1, default: 1 }),
  },
  'conv1d',
);
const CONV2D_FIELDS = {
  stride: pair({ min: 1, default: 1 }),
  padding: pair({ min: 0, default: 0 }),
  dilation: pair({ min: 1, default: 1 }),
  groups: int({ min: 1, default: 1 }),
};
const CONV2D = attrsOf(CONV2D_FIELDS, 'conv2d');
const CONV_TRANSPOSE = attrsOf({ ...CONV2D_FIELDS, outputPadding: pair({ min: 0, default: 0 }) }, 'convTranspose2d');

function conv2d([x, weight, bias]: readonly TensorMeta[], attrs: NormalConv2d): readonly TensorMeta[] {
  checkConv(x!, weight!, bias, attrs.groups, 'conv2d');
  const pads = attrs.padding.map((size) => [size, size] as const);
  const sizes = convSizes(x!.shape.slice(2), weight!.shape.slice(2), attrs.stride, pads, attrs.dilation);
  return [{ shape: [x!.shape[0]!, weight!.shape[0]!, ...sizes], dtype: x!.dtype }];
}

const POOL_FIELDS = {
  kernelSize: pair({ min: 1 }),
  stride: optional(pair({ min: 1 })),
  padding: pair({ min: 0, default: 0 }),
};
const MAX_POOL = attrsOf(POOL_FIELDS, 'maxPool2d');
const AVG_POOL = attrsOf({ ...POOL_FIELDS, countIncludePad: bool(true) }, 'avgPool2d');
const ADAPTIVE = attrsOf({ outputSize: pair({ min: 1 }) }, 'adaptiveAvgPool2d');

/** Output of a pooling `[N, C, H, W]`, floor mode. */
export function poolShape(x: TensorMeta, attrs: NormalPool, what: string): readonly TensorMeta[] {
  requireFloat(x, what);
  requireRank(x, IMAGES, what);
  const { kernelSize, stride, padding } = attrs;
  if (padding.some((size, at) => size > kernelSize[at]! / 2)) {
    throw invalid(
      `${what}: pad should be at most half of effective kernel size, but got pad=${padding.join(', ')}, kernel_size=${kernelSize.join(', ')}`,
    );
  }
  const sizes = x.shape
    .slice(2)
    .map((size, at) => Math.floor((size + 2 * padding[at]! - kernelSize[at]!) / stride[at]!) + 1);
  if (sizes.some((size) => size < 1)) {
    throw mismatch(
      `Given input size: (${x.shape.slice(1).join('x')}). Calculated output size: (${[x.shape[1], ...sizes].join('x')}). Output size is too small`,
    );
  }
  return [{ shape: [x.shape[0]!, x.shape[1]!, ...sizes], dtype: x.dtype }];
}

function pooling(attrs: { kernelSize: IntPair; stride: IntPair | undefined; padding: IntPair }): NormalPool {
  return { kernelSize: attrs.kernelSize, stride: attrs.stride ?? attrs.kernelSize, padding: attrs.padding };
}

/** PyTorch's `matmul`: vectors are promoted, leading dimensions broadcast. */
export function matmulShape([a, b]: readonly TensorMeta[]): readonly TensorMeta[] {
  const [left, right] = [a!.shape, b!.shape];
  if (left.length === 0 || right.length === 0) {
    throw mismatch(
      `both arguments to matmul need to be at least 1D, but they are ${left.length}D and ${right.length}D`,
    );
  }
  if (a!.dtype !== b!.dtype)
    throw invalid(`expected m1 and m2 to have the same dtype, but got: ${a!.dtype} != ${b!.dtype}`);
  if (a!.dtype === 'bool') throw invalid('matmul of bool tensors is not supported: cast them first');
  const [rows, inner] = left.length === 1 ? [1, left[0]!] : [left.at(-2)!, left.at(-1)!];
  const [shared, columns] = right.length === 1 ? [right[0]!, 1] : [right.at(-2)!, right.at(-1)!];
  if (inner !== shared) {
    throw mismatch(
      left.length <= 2 && right.length <= 2
        ? `mat1 and mat2 shapes cannot be multiplied (${rows}x${inner} and ${shared}x${columns}): the ${inner} columns of the first must be the rows of the second`
        : `matmul: last dimension of ${showShape(left)} (${inner}) must match the second last of ${showShape(right)} (${shared})`,
    );
  }
  const shape = [
    ...broadcast(left.slice(0, -2), right.slice(0, -2)),
    ...(left.length === 1 ? [] : [rows]),
    ...(right.length === 1 ? [] : [columns]),
  ];
  return [{ shape, dtype: a!.dtype }];
}

function softmax(name: 'softmax' | 'logSoftmax'): OpRow<'softmax' | 'logSoftmax'> {
  const read = attrsOf({ dim: int({ default: -1 }) }, name);
  return {
    arity: 1,
    normalise: (attrs, [x]) => ({ dim: resolveDim(read(attrs).dim, x!.shape.length) }),
    infer: ([x]) => {
      requireFloat(x!, name);
      return [{ shape: x!.shape, dtype: x!.dtype }];
    },
  };
}

const UPSAMPLE = attrsOf(
  { mode: oneOf(['nearest', 'bilinear', 'area'], 'nearest'), scaleFactor: num({ above: 0 }) },
  'upsample',
);

/** Matrix products, convolutions, pools, resizing, softmax. */
export const SPATIAL: Rows<
  | 'matmul'
  | 'conv1d'
  | 'conv2d'
  | 'convTranspose2d'
  | 'maxPool2d'
  | 'avgPool2d'
  | 'adaptiveAvgPool2d'
  | 'upsample'
  | 'softmax'
  | 'logSoftmax'
> = {
  matmul: { arity: 2, normalise: noAttrs('matmul'), infer: matmulShape },
  conv1d: {
    arity: [2, 3],
    normalise: (attrs) => {
      const single = (value: unknown) => (Array.isArray(value) && value.length === 1 ? value[0] : value);
      return CONV1D(Object.fromEntries(Object.entries(attrs ?? {}).map(([name, value]) => [name, single(value)])));
    },
    infer: ([x, weight, bias], { stride, padding, dilation, groups }) => {
      checkConv(x!, weight!, bias, groups, 'conv1d');
      const sizes = convSizes(x!.shape.slice(2), weight!.shape.slice(2), [stride], [[padding, padding]], [dilation]);
      return [{ shape: [x!.shape[0]!, weight!.shape[0]!, ...sizes], dtype: x!.dtype }];
    },
  },
  conv2d: { arity: [2, 3], normalise: CONV2D, infer: conv2d },
  convTranspose2d: {
    arity: [2, 3],
    normalise: CONV_TRANSPOSE,
    infer: ([x, weight, bias], { stride, padding, dilation, groups, outputPadding }) => {
      checkConv(x!, weight!, bias, groups, 'convTranspose2d');
      const sizes = x!.shape.slice(2).map((size, at) => {
        if (outputPadding[at]! >= stride[at]! && outputPadding[at]! >= dilation[at]!) {
          throw invalid(
            `output padding must be smaller than either stride or dilation, but got output_padding ${outputPadding[at]}, stride ${stride[at]}, dilation ${dilation[at]}`,
          );
        }
        const kernel = dilation[at]! * (weight!.shape[at + 2]! - 1);
        const result = (size - 1) * stride[at]! - 2 * padding[at]! + kernel + outputPadding[at]! + 1;
        if (result < 1) {
          throw mismatch(
            `convTranspose2d: input ${showShape(x!.shape)} is too small: calculated output size ${result} at dimension ${at + 2}`,
          );
        }
        return result;
      });
      return [{ shape: [x!.shape[0]!, weight!.shape[1]! * groups, ...sizes], dtype: x!.dtype }];
    },
  },
  maxPool2d: {
    arity: 1,
    normalise: (attrs) => pooling(MAX_POOL(attrs)),
    infer: ([x], attrs) => poolShape(x!, attrs, 'maxPool2d'),
  },
  avgPool2d: {
    arity: 1,
    normalise: (attrs) => {
      const read = AVG_POOL(attrs);
      return { ...pooling(read), countIncludePad: read.countIncludePad };
    },
    infer: ([x], attrs) => poolShape(x!, attrs, 'avgPool2d'),
  },
  adaptiveAvgPool2d: {
    arity: 1,
    normalise: ADAPTIVE,
    infer: ([x], { outputSize }) => {
      requireFloat(x!, 'adaptiveAvgPool2d');
      requireRank(x!, IMAGES, 'adaptiveAvgPool2d');
      return [{ shape: [...x!.shape.slice(0, 2), ...outputSize], dtype: x!.dtype }];
    },
  },
  upsample: {
    arity: 1,
    normalise: UPSAMPLE,
    infer: ([x], { scaleFactor }) => {
      requireFloat(x!, 'upsample');
      requireRank(x!, IMAGES, 'upsample');
      const sizes = x!.shape.slice(2).map((size) => Math.floor(size * scaleFactor));
      if (sizes.some((size) => size < 1)) {
        throw mismatch(
          `upsample: Input and output sizes should be greater than 0, but got output size ${showShape(sizes)}`,
        );
      }
      return [{ shape: [...x!.shape.slice(0, 2), ...sizes], dtype: x!.dtype }];
    },
  },
  softmax: softmax('softmax'),
  logSoftmax: softmax('logSoftmax'),
};
