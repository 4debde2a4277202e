import { bool, int, invalid, only, optional, pair, type Field, type IntPair } from '../fields';
import { IMAGES, mismatch, requireFloat, requireRank, showShape } from '../ops/meta';
import { convSizes, poolShape } from '../ops/spatial';
import type { TensorMeta } from '../vocabulary';
import { fanIn, layer, parameter } from './row';

export interface Conv2dParams {
  readonly in_channels: number;
  readonly out_channels: number;
  readonly kernel_size: IntPair;
  readonly stride: IntPair;
  readonly dilation: IntPair;
  readonly groups: number;
  readonly bias: boolean;
  /** [top, left, bottom, right], which is ONNX's order; `same` may be uneven (the odd one goes to the end, as in PyTorch). */
  readonly pads: readonly [number, number, number, number];
}

const paddingField: Field<IntPair | 'same' | 'valid'> = (value, name) =>
  value === 'same' || value === 'valid' ? value : pair({ min: 0, default: 0 })(value, name);

function conv2dPads(
  padding: IntPair | 'same' | 'valid',
  kernel: IntPair,
  stride: IntPair,
  dilation: IntPair,
): Conv2dParams['pads'] {
  if (padding === 'valid') return [0, 0, 0, 0];
  if (padding !== 'same') return [padding[0], padding[1], padding[0], padding[1]];
  if (stride[0] !== 1 || stride[1] !== 1) {
    throw invalid(`Conv2d: padding='same' is not supported for strided convolutions, got stride ${stride.join(', ')}`);
  }
  const total = kernel.map((size, at) => dilation[at]! * (size - 1));
  const before = total.map((size) => Math.floor(size / 2));
  return [before[0]!, before[1]!, total[0]! - before[0]!, total[1]! - before[1]!];
}

const Conv2d = layer(
  'Conv2d',
  {
    in_channels: int({ min: 1 }),
    out_channels: int({ min: 1 }),
    kernel_size: pair({ min: 1 }),
    stride: pair({ min: 1, default: 1 }),
    padding: paddingField,
    dilation: pair({ min: 1, default: 1 }),
    groups: int({ min: 1, default: 1 }),
    bias: bool(true),
    padding_mode: only('zeros', 'reflect, replicate and circular are'),
  },
  {
    derive: (read): Conv2dParams => {
      const { in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias } = read;
      for (const [name, channels] of Object.entries({ in_channels, out_channels })) {
        if (channels % groups !== 0) {
          throw invalid(`Conv2d: ${name} must be divisible by groups, got ${channels} and ${groups}`);
        }
      }
      const pads = conv2dPads(padding, kernel_size, stride, dilation);
      return { in_channels, out_channels, kernel_size, stride, dilation, groups, bias, pads };
    },
    weights: ({ in_channels, out_channels, kernel_size, groups, bias }) => {
      const each = in_channels / groups;
      const init = fanIn(each * kernel_size[0] * kernel_size[1]);
      return [
        parameter('weight', [out_channels, each, ...kernel_size], init),
        ...(bias ? [parameter('bias', [out_channels], init)] : []),
      ];
    },
    infer: ([x], { in_channels, out_channels, kernel_size, stride, dilation, groups, pads }) => {
      requireFloat(x!, 'Conv2d');
      requireRank(x!, IMAGES, 'conv2d');
      if (x!.shape[1] !== in_channels) {
        throw mismatch(
          `Given groups=${groups}, weight of size ${showShape([out_channels, in_channels / groups, ...kernel_size])}, ` +
            `expected input${showShape(x!.shape)} to have ${in_channels} channels, but got ${x!.shape[1]} channels instead`,
        );
      }
      const perAxis = [
        [pads[0], pads[2]],
        [pads[1], pads[3]],
      ] as const;
      const sizes = convSizes(x!.shape.slice(2), kernel_size, stride, perAxis, dilation);
      return [{ shape: [x!.shape[0]!, out_channels, ...sizes], dtype: x!.dtype }];
    },
  },
);

export interface PoolParams {
  readonly kernel_size: IntPair;
  readonly stride: IntPair;
  readonly padding: IntPair;
}
export interface AvgPoolParams extends PoolParams {
  readonly count_include_pad: boolean;
}

const POOL = {
  kernel_size: pair({ min: 1 }),
  stride: optional<IntPair | null>((value, name) => (value === null ? null : pair({ min: 1 })(value, name))),
  padding: pair({ min: 0, default: 0 }),
  ceil_mode: only(false),
};

function pool(read: { kernel_size: IntPair; stride: IntPair | null | undefined; padding: IntPair }): PoolParams {
  return { kernel_size: read.kernel_size, stride: read.stride ?? read.kernel_size, padding: read.padding };
}

function poolOf(x: TensorMeta, { kernel_size, stride, padding }: PoolParams, name: string): readonly TensorMeta[] {
  return poolShape(x, { kernelSize: kernel_size, stride, padding }, name);
}

const MaxPool2d = layer(
  'MaxPool2d',
  { ...POOL, dilation: only(1), return_indices: only(false) },
  {
    derive: pool,
    infer: ([x], params) => poolOf(x!, params, 'MaxPool2d'),
  },
);

const AvgPool2d = layer(
  'AvgPool2d',
  { ...POOL, count_include_pad: bool(true), divisor_override: only(null) },
  {
    derive: (read): AvgPoolParams => ({ ...pool(read), count_include_pad: read.count_include_pad }),
    infer: ([x], params) => poolOf(x!, params, 'AvgPool2d'),
  },
);

export interface AdaptivePoolParams {
  /** null keeps the input's size. */
  readonly output_size: readonly [number | null, number | null];
}

const adaptiveSize: Field<AdaptivePoolParams['output_size']> = (value, name) => {
  const size = (one: unknown) => (one === null ? null : int({ min: 1 })(one, name));
  if (Array.isArray(value)) {
    if (value.length !== 2) throw invalid(`${name} must be an integer or two, got ${value.length} values`);
    return [size(value[0]), size(value[1])];
  }
  return [size(value), size(value)];
};

const AdaptiveAvgPool2d = layer(
  'AdaptiveAvgPool2d',
  { output_size: adaptiveSize },
  {
    derive: (read): AdaptivePoolParams => read,
    infer: ([x], { output_size }) => {
      requireFloat(x!, 'AdaptiveAvgPool2d');
      requireRank(x!, IMAGES, 'AdaptiveAvgPool2d');
      const [n, c, h, w] = x!.shape;
      return [{ shape: [n!, c!, output_size[0] ?? h!, output_size[1] ?? w!], dtype: x!.dtype }];
    },
  },
);

export const SPATIAL_LAYERS = { Conv2d, MaxPool2d, AvgPool2d, AdaptiveAvgPool2d };
