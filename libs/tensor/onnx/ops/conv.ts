import { RuntimeError } from '../../runtime/errors';
import { elements, showShape } from '../../runtime/ops/meta';
import type { Graph } from '../graph/graph';
import type { AttributeValue, Value } from '../graph/value';
import { addAll } from './elementwise';
import { matmul } from './matmul';
import { channelSum, type Pair } from './pool';
import { sum } from './reduce';
import { mismatch, reshape, reverse, split, swapLast, transpose } from './shape';

/** [top, left, bottom, right], ONNX's order. */
export type Pads = readonly [number, number, number, number];

export interface ConvGeometry {
  readonly stride: Pair;
  readonly pads: Pads;
  readonly dilation: Pair;
  readonly groups: number;
}

/** The unfolded input of a weight gradient is made in parts of about this many bytes. */
const UNFOLD_BYTES = 30e6;

/** Below this many input channels a transposed convolution beats one with flipped weights (measured: 0.85 ms against 3.2). */
const FEW_CHANNELS = 8;

function attributes(
  kernel: readonly number[],
  { stride, pads, dilation, groups }: ConvGeometry,
): Record<string, AttributeValue> {
  return { kernel_shape: kernel, strides: stride, pads, dilations: dilation, group: groups };
}

function kernelOf(weight: Value): Pair {
  return [weight.shape[2]!, weight.shape[3]!];
}

/** How far a kernel reaches along an axis. */
function reach(kernel: Pair, dilation: Pair, axis: 0 | 1): number {
  return dilation[axis] * (kernel[axis] - 1);
}

/** Output height or width. */
function outputSize(size: number, kernel: Pair, { stride, pads, dilation }: ConvGeometry, axis: 0 | 1): number {
  return Math.floor((size + pads[axis] + pads[axis + 2]! - reach(kernel, dilation, axis) - 1) / stride[axis]) + 1;
}

/** 2-D convolution: `x[N, C, H, W]`, `weight[O, C / groups, kh, kw]`. */
export function conv2d(g: Graph, x: Value, weight: Value, bias: Value | null, geometry: ConvGeometry): Value {
  const kernel = kernelOf(weight);
  const [n, c, h, w] = x.shape as readonly [number, number, number, number];
  const [outChannels, perGroup] = weight.shape as readonly [number, number];
  if (c !== perGroup * geometry.groups) {
    throw mismatch('conv2d', `weight ${showShape(weight.shape)} does not fit input ${showShape(x.shape)}`);
  }
  const shape = [n, outChannels, outputSize(h, kernel, geometry, 0), outputSize(w, kernel, geometry, 1)];
  return g.op1(
    'Conv',
    bias ? [x, weight, bias] : [x, weight],
    { shape, dtype: x.dtype },
    {
      attributes: attributes(kernel, geometry),
      vjp: ([d]) => [
        () => convInputGradient(g, d!, weight, x.shape, geometry),
        () => convWeightGradient(g, d!, x, weight.shape, geometry),
        () => channelSum(g, d!),
      ],
    },
  );
}

/** Gradient of a convolution's input, `shape` its size. */
export function convInputGradient(
  g: Graph,
  d: Value,
  weight: Value,
  shape: readonly number[],
  geometry: ConvGeometry,
): Value {
  const { stride, pads, dilation, groups } = geometry;
  const kernel = kernelOf(weight);
  const back = [0, 1, 2, 3].map((i) => reach(kernel, dilation, (i % 2) as 0 | 1) - pads[i]!);
  const flipped =
    stride[0] === 1 && stride[1] === 1 && (groups > 1 || shape[1]! >= FEW_CHANNELS) && back.every((p) => p >= 0);
  if (flipped) {
    return g.op1(
      'Conv',
      [d, swapChannels(g, reverse(g, weight, [2, 3]), groups)],
      { shape, dtype: d.dtype },
      {
        attributes: attributes(kernel, { stride, pads: back as unknown as Pads, dilation, groups }),
      },
    );
  }
  const rest = ([0, 1] as const).map((axis) => {
    const covered = (d.shape[axis + 2]! - 1) * stride[axis] + reach(kernel, dilation, axis) + 1;
    return shape[axis + 2]! + pads[axis] + pads[axis + 2]! - covered;
  });
  return g.op1(
    'ConvTranspose',
    [d, weight],
    { shape, dtype: d.dtype },
    {
      attributes: { ...attributes(kernel, geometry), output_padding: rest },
    },
  );
}

/** `[O, C / groups, kh, kw]` to `[C, O / groups, kh, kw]`, group by group. */
function swapChannels(g: Graph, weight: Value, groups: number): Value {
  const [out, perGroup, kh, kw] = weight.shape as readonly [number, number, number, number];
  if (groups === 1) return transpose(g, weight, [1, 0, 2, 3]);
  const grouped = reshape(g, weight, [groups, out / groups, perGroup, kh, kw]);
  return reshape(g, transpose(g, grouped, [0, 2, 1, 3, 4]), [groups * perGroup, out / groups, kh, kw]);
}

/**
 * Gradient of a convolution's weight of `shape`. The input is unfolded by a depthwise convolution with a one-hot kernel
 * (the fastest of five ways measured), then one product per sample is summed over the batch.
 */
export function convWeightGradient(
  g: Graph,
  d: Value,
  x: Value,
  shape: readonly number[],
  geometry: ConvGeometry,
): Value {
  const { stride, pads, groups } = geometry;
  const [n, , h, w] = x.shape as readonly [number, number, number, number];
  const [out, perGroup, kh, kw] = shape as readonly [number, number, number, number];
  const length = d.shape[2]! * d.shape[3]!;
  const pointwise = kh * kw === 1 && stride[0] * stride[1] === 1 && pads.every((p) => p === 0);
  const bytes = x.shape[1]! * kh * kw * length * 4;
  const parts = pointwise ? 1 : Math.min(n, Math.ceil((n * bytes) / UNFOLD_BYTES));
  const sizes = Array.from(
    { length: parts },
    (_, i) => Math.floor(((i + 1) * n) / parts) - Math.floor((i * n) / parts),
  );
  const inputs = split(g, x, 0, sizes);
  const gradients = split(g, d, 0, sizes);
  const sums = sizes.map((size, i) => {
    const columns = pointwise
      ? reshape(g, inputs[i]!, [size, x.shape[1]!, h * w])
      : unfold(g, inputs[i]!, [kh, kw], geometry);
    const batch = groups === 1 ? [size] : [size, groups];
    const left = reshape(g, columns, [...batch, perGroup * kh * kw, length]);
    const right = reshape(g, gradients[i]!, [...batch, out / groups, length]);
    return sum(g, matmul(g, left, right, { transB: true }), [0]);
  });
  // The kernel transposes its right operand, so that is the smaller one, and the small sum is transposed instead.
  return reshape(g, swapLast(g, addAll(g, sums)), shape);
}

/** Each output position's window: `[N, C * kh * kw, oh, ow]`. */
function unfold(g: Graph, x: Value, kernel: Pair, geometry: ConvGeometry): Value {
  const [n, c, h, w] = x.shape as readonly [number, number, number, number];
  const area = kernel[0] * kernel[1];
  const oneHot = new Float32Array(c * area * area);
  for (let i = 0; i < c * area; i++) oneHot[i * area + (i % area)] = 1;
  const shape = [n, c * area, outputSize(h, kernel, geometry, 0), outputSize(w, kernel, geometry, 1)];
  return g.op1(
    'Conv',
    [x, g.constant('float32', [c * area, 1, ...kernel], oneHot)],
    { shape, dtype: x.dtype },
    {
      attributes: attributes(kernel, { ...geometry, groups: c }),
    },
  );
}

export interface TransposedGeometry extends ConvGeometry {
  readonly outputPadding: Pair;
}

/** Transposed 2-D convolution: `x[N, C, H, W]`, `weight[C, O / groups, kh, kw]`. */
export function convTranspose2d(
  g: Graph,
  x: Value,
  weight: Value,
  bias: Value | null,
  geometry: TransposedGeometry,
): Value {
  const { stride, pads, dilation, groups, outputPadding } = geometry;
  const kernel = kernelOf(weight);
  if (outputPadding.some((count, axis) => count >= stride[axis]!)) {
    throw new RuntimeError(
      'unsupported',
      `convTranspose2d: output padding ${outputPadding.join(', ')} must be smaller than the stride ${stride.join(', ')} on this runtime`,
      { op: 'convTranspose2d' },
    );
  }
  const sizes = ([0, 1] as const).map(
    (axis) =>
      (x.shape[axis + 2]! - 1) * stride[axis] -
      pads[axis] -
      pads[axis + 2]! +
      reach(kernel, dilation, axis) +
      outputPadding[axis] +
      1,
  );
  const shape = [x.shape[0]!, weight.shape[1]! * groups, ...sizes];
  return g.op1(
    'ConvTranspose',
    bias ? [x, weight, bias] : [x, weight],
    { shape, dtype: x.dtype },
    {
      attributes: { ...attributes(kernel, geometry), output_padding: outputPadding },
      vjp: ([d]) => [
        () =>
          g.op1('Conv', [d!, weight], { shape: x.shape, dtype: x.dtype }, { attributes: attributes(kernel, geometry) }),
        () => convWeightGradient(g, x, d!, weight.shape, geometry),
        () => channelSum(g, d!),
      ],
    },
  );
}

/** 1-D convolution as a 2-D one of height 1. */
export function conv1d(
  g: Graph,
  x: Value,
  weight: Value,
  bias: Value | null,
  attrs: { readonly stride: number; readonly padding: number; readonly dilation: number; readonly groups: number },
): Value {
  const flat = (value: Value) => reshape(g, value, [value.shape[0]!, value.shape[1]!, 1, value.shape[2]!]);
  const y = conv2d(g, flat(x), flat(weight), bias, {
    stride: [1, attrs.stride],
    pads: [0, attrs.padding, 0, attrs.padding],
    dilation: [1, attrs.dilation],
    groups: attrs.groups,
  });
  return reshape(g, y, [y.shape[0]!, y.shape[1]!, elements(y.shape.slice(2))]);
}
