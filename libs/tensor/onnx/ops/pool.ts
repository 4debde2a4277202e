import type { Graph } from '../graph/graph';
import type { AttributeValue, Value } from '../graph/value';
import { cast, equal, maximum, mul, sub } from './elementwise';
import { matmul } from './matmul';
import { mean, sum } from './reduce';
import { filled, pad, reshape, slice } from './shape';

export type Pair = readonly [number, number];

export interface PoolGeometry {
  readonly kernel: Pair;
  readonly stride: Pair;
  readonly padding: Pair;
}

function attributes({ kernel, stride, padding }: PoolGeometry): Record<string, AttributeValue> {
  return { kernel_shape: kernel, strides: stride, pads: [...padding, ...padding] };
}

function pooled(x: Value, { kernel, stride, padding }: PoolGeometry): readonly number[] {
  const size = (axis: 0 | 1) => Math.floor((x.shape[axis + 2]! + 2 * padding[axis] - kernel[axis]) / stride[axis]) + 1;
  return [x.shape[0]!, x.shape[1]!, size(0), size(1)];
}

/** Windows side by side, none over the edge: each input belongs to one window at most. */
function tiles({ kernel, stride, padding }: PoolGeometry): boolean {
  return kernel[0] === stride[0] && kernel[1] === stride[1] && padding[0] === 0 && padding[1] === 0;
}

/** Without the rows and columns that no window covers. */
function crop(g: Graph, x: Value, [, , oh, ow]: readonly number[], [kh, kw]: Pair): Value {
  return slice(g, x, [
    { axis: 2, start: 0, stop: oh! * kh },
    { axis: 3, start: 0, stop: ow! * kw },
  ]);
}

/** Repeats each element over a window (float32 only). */
export function enlarge(g: Graph, x: Value, [kh, kw]: Pair, gradient?: (d: Value) => Value): Value {
  const [n, c, h, w] = x.shape as readonly [number, number, number, number];
  const scales = g.numbers('float32', [4], [1, 1, kh, kw]);
  return g.op1(
    'Resize',
    [x, null, scales],
    { shape: [n, c, h * kh, w * kw], dtype: x.dtype },
    {
      attributes: { mode: 'nearest', nearest_mode: 'floor', coordinate_transformation_mode: 'asymmetric' },
      ...(gradient ? { vjp: ([d]: readonly (Value | null)[]) => [() => gradient(d!)] } : {}),
    },
  );
}

/** Float32 holds every whole number up to here. */
const EXACT_FLOAT = 2 ** 24;

/** Largest of each window of `x[N, C, H, W]`. The gradient goes to the first largest in row-major order, as in PyTorch. */
export function maxPool2d(g: Graph, x: Value, geometry: PoolGeometry): Value {
  if (!tiles(geometry) || x.shape[2]! * x.shape[3]! >= EXACT_FLOAT) return overlappingMaxPool(g, x, geometry);
  const y: Value = g.op1(
    'MaxPool',
    [x],
    { shape: pooled(x, geometry), dtype: x.dtype },
    { attributes: attributes(geometry), vjp: ([d]) => [() => firstOfWindow(g, x, y, d!, geometry)] },
  );
  return y;
}

/**
 * The gradient `d` at the first place of each window where `x` equals its maximum `y`. Places of a plane are numbered backwards;
 * the largest number among those that hold the maximum is the first one's. Much faster than asking the pool for its indices.
 */
function firstOfWindow(g: Graph, x: Value, y: Value, d: Value, geometry: PoolGeometry): Value {
  const { kernel } = geometry;
  const [n, c, h, w] = x.shape as readonly [number, number, number, number];
  const covered = crop(g, x, y.shape, kernel);
  const [rows, columns] = covered.shape.slice(2) as [number, number];
  const plane = h * w;
  const numbers = Float32Array.from(
    { length: rows * columns },
    (_, i) => plane - (Math.floor(i / columns) * w + (i % columns)),
  );
  const holders = mul(
    g,
    cast(g, equal(g, covered, enlarge(g, y, kernel)), 'float32'),
    g.constant('float32', [1, 1, rows, columns], numbers),
  );
  const first = g.op1('MaxPool', [holders], { shape: y.shape, dtype: 'float32' }, { attributes: attributes(geometry) });
  const ends = g.numbers(
    'int64',
    [n, c, 1, 1],
    Array.from({ length: n * c }, (_, i) => (i + 1) * plane),
  );
  // A window of NaN holds its maximum nowhere: its gradient, NaN as well, goes to a place that exists.
  const places = sub(g, ends, cast(g, maximum(g, first, 1), 'int64'));
  return g.op1(
    'MaxUnpool',
    [d, places, g.ints(x.shape)],
    { shape: x.shape, dtype: d.dtype },
    { attributes: { kernel_shape: kernel, strides: geometry.stride } },
  );
}

/** Sum per channel of a gradient `[N, C, H, W]`. What a pool only moved to other places it sums before they grew. */
export function channelSum(g: Graph, d: Value): Value {
  const moved = d.op?.type === 'MaxUnpool' ? d.op.inputs[0]! : d;
  return sum(g, moved, [0, 2, 3]);
}

/** Windows that overlap or reach over the edge: the kernel reports where each maximum was. */
function overlappingMaxPool(g: Graph, x: Value, geometry: PoolGeometry): Value {
  const shape = pooled(x, geometry);
  const outputs = [
    { shape, dtype: x.dtype },
    { shape, dtype: 'int64' as const },
  ];
  const values: readonly Value[] = g.op('MaxPool', [x], outputs, {
    attributes: attributes(geometry),
    vjp: ([d]) => {
      const size = x.shape.reduce((a, b) => a * b, 1);
      const count = d!.shape.reduce((a, b) => a * b, 1);
      const inputs = [filled(g, [size], 0, d!.dtype), reshape(g, values[1]!, [count]), reshape(g, d!, [count])];
      const flat = g.op1(
        'ScatterElements',
        inputs,
        { shape: [size], dtype: d!.dtype },
        {
          attributes: { axis: 0, reduction: 'add' },
        },
      );
      return [reshape(g, flat, x.shape)];
    },
  });
  return values[0]!;
}

/** Mean of each window. `countPad`: the padding counts as zeros, else it does not count. */
export function avgPool2d(g: Graph, x: Value, geometry: PoolGeometry, countPad: boolean): Value {
  const shape = pooled(x, geometry);
  return g.op1(
    'AveragePool',
    [x],
    { shape, dtype: x.dtype },
    {
      attributes: { ...attributes(geometry), count_include_pad: countPad ? 1 : 0 },
      vjp: ([d]) => [() => avgPoolGradient(g, d!, x.shape, geometry, countPad)],
    },
  );
}

function avgPoolGradient(
  g: Graph,
  d: Value,
  shape: readonly number[],
  geometry: PoolGeometry,
  countPad: boolean,
): Value {
  const { kernel, stride, padding } = geometry;
  const [n, c, oh, ow] = d.shape as readonly [number, number, number, number];
  const shares = mul(g, d, shareOfWindow(g, shape, [oh, ow], geometry, countPad));
  if (tiles(geometry)) {
    const large = enlarge(g, shares, kernel);
    return pad(
      g,
      large,
      [0, 0, 0, 0],
      shape.map((size, axis) => size - large.shape[axis]!),
    );
  }
  // Channels as samples: each window adds its share to all its places.
  const flat = reshape(g, shares, [n * c, 1, oh, ow]);
  const ones = g.numbers('float32', [1, 1, ...kernel], new Float32Array(kernel[0] * kernel[1]).fill(1));
  const rest = ([0, 1] as const).map(
    (axis) => shape[axis + 2]! + 2 * padding[axis] - (d.shape[axis + 2]! - 1) * stride[axis] - kernel[axis],
  );
  const spread = g.op1(
    'ConvTranspose',
    [flat, ones],
    { shape: [n * c, 1, shape[2]!, shape[3]!], dtype: d.dtype },
    {
      attributes: { ...attributes(geometry), output_padding: rest },
    },
  );
  return reshape(g, spread, shape);
}

/** One over the number of places that count in each window: a number where it is the same everywhere. */
function shareOfWindow(
  g: Graph,
  shape: readonly number[],
  out: Pair,
  { kernel, stride, padding }: PoolGeometry,
  countPad: boolean,
): Value | number {
  if (countPad || (padding[0] === 0 && padding[1] === 0)) return 1 / (kernel[0] * kernel[1]);
  const counts = ([0, 1] as const).map((axis) =>
    Array.from({ length: out[axis] }, (_, i) => {
      const start = i * stride[axis] - padding[axis];
      return Math.min(shape[axis + 2]!, start + kernel[axis]) - Math.max(0, start);
    }),
  );
  const shares = counts[0]!.flatMap((rows) => counts[1]!.map((columns) => 1 / (rows * columns)));
  return g.numbers('float32', [1, 1, ...out], shares);
}

/** Means over windows whose borders divide the input as evenly as they can. */
export function adaptiveAvgPool2d(g: Graph, x: Value, [oh, ow]: Pair): Value {
  const [n, c, h, w] = x.shape as readonly [number, number, number, number];
  if (oh === 1 && ow === 1) return mean(g, x, [2, 3], true);
  if (oh === h && ow === w) return x;
  if (h % oh === 0 && w % ow === 0) {
    const kernel: Pair = [h / oh, w / ow];
    return avgPool2d(g, x, { kernel, stride: kernel, padding: [0, 0] }, true);
  }
  const rows = resample(g, x, adaptiveMatrix(h, oh), adaptiveMatrix(w, ow));
  return reshape(g, rows, [n, c, oh, ow]);
}

/** A linear map of one axis, `[out][in]`. */
export type AxisMap = readonly (readonly number[])[];

/** Applies a linear map to the rows and one to the columns of each image. */
export function resample(g: Graph, x: Value, rows: AxisMap, columns: AxisMap): Value {
  const constant = (map: AxisMap) => g.numbers(x.dtype, [map.length, map[0]!.length], map.flat());
  return matmul(g, constant(rows), matmul(g, x, constant(columns), { transB: true }));
}

function adaptiveMatrix(size: number, out: number): AxisMap {
  return Array.from({ length: out }, (_, i) => {
    const start = Math.floor((i * size) / out);
    const stop = Math.ceil(((i + 1) * size) / out);
    return Array.from({ length: size }, (_unused, at) => (at >= start && at < stop ? 1 / (stop - start) : 0));
  });
}
