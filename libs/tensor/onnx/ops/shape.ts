import { RuntimeError } from '../../runtime/errors';
import type { Shape } from '../../runtime';
import { elements, showShape } from '../../runtime/ops/meta';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((size, axis) => size === b[axis]);
}

export function mismatch(op: string, message: string): RuntimeError {
  return new RuntimeError('shape_mismatch', `${op}: ${message}`, { op });
}

/** A tensor of one value in every place. */
export function filled(g: Graph, shape: Shape, value: number, dtype: Value['dtype'] = 'float32'): Value {
  const scalar = g.scalar(value, dtype);
  return shape.length === 0 ? scalar : g.op1('Expand', [scalar, g.ints(shape)], { shape, dtype });
}

export function reshape(g: Graph, x: Value, shape: Shape): Value {
  if (sameShape(x.shape, shape)) return x;
  if (elements(x.shape) !== elements(shape)) {
    throw mismatch('reshape', `shape ${showShape(shape)} is invalid for input of size ${elements(x.shape)}`);
  }
  return g.op1(
    'Reshape',
    [x, g.ints(shape)],
    { shape, dtype: x.dtype },
    {
      // A zero in the shape means an empty axis, not "copy from the input".
      ...(shape.includes(0) ? { attributes: { allowzero: 1 } } : {}),
      vjp: ([d]) => [reshape(g, d!, x.shape)],
    },
  );
}

export function transpose(g: Graph, x: Value, perm: readonly number[]): Value {
  if (perm.length !== x.shape.length || perm.some((_, axis) => !perm.includes(axis))) {
    throw mismatch('transpose', `${showShape(perm)} is no permutation of the axes of ${showShape(x.shape)}`);
  }
  if (perm.every((from, axis) => from === axis)) return x;
  const shape = perm.map((axis) => x.shape[axis]!);
  return g.op1(
    'Transpose',
    [x],
    { shape, dtype: x.dtype },
    {
      attributes: { perm },
      vjp: ([d]) => [
        transposeGradient(
          g,
          d!,
          perm.map((_, axis) => perm.indexOf(axis)),
        ),
      ],
    },
  );
}

/** Transposes a gradient, in one go with the transpose that made it: nothing differentiates through gradients. */
function transposeGradient(g: Graph, d: Value, perm: readonly number[]): Value {
  const inner = d.op?.type === 'Transpose' ? d.op : null;
  if (!inner) return transpose(g, d, perm);
  const first = inner.attributes['perm'] as readonly number[];
  return transpose(
    g,
    inner.inputs[0]!,
    perm.map((axis) => first[axis]!),
  );
}

/** Swaps the last two axes. */
export function swapLast(g: Graph, x: Value): Value {
  const rank = x.shape.length;
  return transpose(
    g,
    x,
    x.shape.map((_, axis) => (axis < rank - 2 ? axis : 2 * rank - 3 - axis)),
  );
}

/** Sums a gradient over the axes along which a value of `shape` was repeated. */
export function unbroadcast(g: Graph, d: Value, shape: Shape): Value {
  if (sameShape(d.shape, shape)) return d;
  const added = d.shape.length - shape.length;
  const axes = d.shape.flatMap((size, axis) =>
    axis < added || (shape[axis - added] === 1 && size !== 1) ? [axis] : [],
  );
  if (axes.length === 0) return reshape(g, d, shape);
  const left = d.shape.filter((_, axis) => !axes.includes(axis));
  const sum = g.op1('ReduceSum', [d, g.ints(axes)], { shape: left, dtype: d.dtype }, { attributes: { keepdims: 0 } });
  return reshape(g, sum, shape);
}

export function expand(g: Graph, x: Value, shape: Shape): Value {
  if (sameShape(x.shape, shape)) return x;
  const added = shape.length - x.shape.length;
  if (added < 0 || x.shape.some((size, axis) => size !== 1 && size !== shape[axis + added])) {
    throw mismatch('expand', `${showShape(x.shape)} cannot be expanded to ${showShape(shape)}`);
  }
  return g.op1(
    'Expand',
    [x, g.ints(shape)],
    { shape, dtype: x.dtype },
    { vjp: ([d]) => [unbroadcast(g, d!, x.shape)] },
  );
}

export function concat(g: Graph, inputs: readonly Value[], axis: number): Value {
  const [first] = inputs;
  if (!first) throw mismatch('concat', 'needs at least one input');
  if (inputs.length === 1) return first;
  for (const { shape } of inputs) {
    if (shape.length !== first.shape.length || shape.some((size, at) => at !== axis && size !== first.shape[at])) {
      throw mismatch('concat', `${showShape(shape)} does not fit ${showShape(first.shape)} along axis ${axis}`);
    }
  }
  const sizes = inputs.map(({ shape }) => shape[axis]!);
  const shape = first.shape.map((size, at) => (at === axis ? sizes.reduce((a, b) => a + b, 0) : size));
  return g.op1(
    'Concat',
    inputs,
    { shape, dtype: first.dtype },
    { attributes: { axis }, vjp: ([d]) => split(g, d!, axis, sizes) },
  );
}

export function split(g: Graph, x: Value, axis: number, sizes: readonly number[]): readonly Value[] {
  if (sizes.reduce((a, b) => a + b, 0) !== x.shape[axis]) {
    throw mismatch('split', `sizes ${showShape(sizes)} do not add up to axis ${axis} of ${showShape(x.shape)}`);
  }
  if (sizes.length === 1) return [x];
  const outputs = sizes.map((size) => ({
    shape: x.shape.map((old, at) => (at === axis ? size : old)),
    dtype: x.dtype,
  }));
  return g.op('Split', [x, g.ints(sizes)], outputs, {
    attributes: { axis },
    vjp: (ds) => [
      concat(
        g,
        ds.map((d, i) => d ?? filled(g, outputs[i]!.shape, 0, x.dtype)),
        axis,
      ),
    ],
  });
}

/** A part of one axis: `start` up to `stop` in steps of `step` (negative: backwards, `stop` -1 runs to the first element). */
export interface AxisRange {
  readonly axis: number;
  readonly start: number;
  readonly stop: number;
  readonly step?: number;
}

function rangeSize({ start, stop, step = 1 }: AxisRange): number {
  return Math.max(0, Math.ceil((stop - start) / step));
}

/** In ONNX a stop of -1 counts from the end; before the first element lies the smallest number. */
const BEFORE_FIRST = -(2 ** 31);

export function slice(g: Graph, x: Value, ranges: readonly AxisRange[]): Value {
  const real = ranges.filter(({ axis, start, stop, step = 1 }) => start !== 0 || stop !== x.shape[axis] || step !== 1);
  if (real.length === 0) return x;
  const shape = x.shape.slice();
  for (const range of real) {
    const { axis, start, stop, step = 1 } = range;
    const size = x.shape[axis];
    if (size === undefined || start < 0 || start > size || stop < -1 || stop > size || step === 0) {
      throw mismatch('slice', `${start}:${stop}:${step} does not fit axis ${axis} of ${showShape(x.shape)}`);
    }
    shape[axis] = rangeSize(range);
  }
  const column = (pick: (range: AxisRange) => number) => g.ints(real.map(pick));
  const inputs = [
    x,
    column(({ start }) => start),
    column(({ stop }) => (stop < 0 ? BEFORE_FIRST : stop)),
    column(({ axis }) => axis),
    column(({ step = 1 }) => step),
  ];
  return g.op1('Slice', inputs, { shape, dtype: x.dtype }, { vjp: ([d]) => [unslice(g, d!, x.shape, real)] });
}

/** The gradient of a slice: its elements back in their places, zeros elsewhere. */
function unslice(g: Graph, d: Value, shape: Shape, ranges: readonly AxisRange[]): Value {
  if (elements(d.shape) === 0) return filled(g, shape, 0, d.dtype);
  let result = d;
  const before: number[] = shape.map(() => 0);
  const after: number[] = shape.map(() => 0);
  for (const range of ranges) {
    const { axis, step = 1 } = range;
    const stride = Math.abs(step);
    const size = rangeSize(range);
    if (step < 0) result = reverse(g, result, [axis]);
    if (stride > 1) result = spread(g, result, axis, stride);
    before[axis] = step < 0 ? range.start - (size - 1) * stride : range.start;
    after[axis] = shape[axis]! - before[axis] - size * stride;
  }
  return pad(g, result, before, after);
}

/** Puts `stride - 1` zeros after each element of an axis. */
function spread(g: Graph, x: Value, axis: number, stride: number): Value {
  const column = reshape(g, x, [...x.shape.slice(0, axis + 1), 1, ...x.shape.slice(axis + 1)]);
  const after = column.shape.map((_, at) => (at === axis + 1 ? stride - 1 : 0));
  const padded = pad(
    g,
    column,
    after.map(() => 0),
    after,
  );
  return reshape(
    g,
    padded,
    x.shape.map((size, at) => (at === axis ? size * stride : size)),
  );
}

export function reverse(g: Graph, x: Value, axes: readonly number[]): Value {
  return slice(
    g,
    x,
    axes.map((axis) => ({ axis, start: Math.max(0, x.shape[axis]! - 1), stop: -1, step: -1 })),
  );
}

/** Constant padding per axis; negative counts crop. */
export function pad(g: Graph, x: Value, before: readonly number[], after: readonly number[], value = 0): Value {
  const crops = x.shape.flatMap((size, axis): AxisRange[] => {
    const start = Math.max(0, -before[axis]!);
    const stop = size - Math.max(0, -after[axis]!);
    return start === 0 && stop === size ? [] : [{ axis, start, stop: Math.max(start, stop) }];
  });
  if (crops.length) x = slice(g, x, crops);
  const [first, last] = [before, after].map((counts) => counts.map((count) => Math.max(0, count)));
  if (![...first!, ...last!].some((count) => count > 0)) return x;
  const inner = x;
  const shape = inner.shape.map((size, axis) => size + first![axis]! + last![axis]!);
  const back = (counts: readonly number[]) => counts.map((count) => -count);
  return g.op1(
    'Pad',
    [inner, g.ints([...first!, ...last!]), g.scalar(value, inner.dtype)],
    { shape, dtype: inner.dtype },
    {
      vjp: ([d]) => [pad(g, d!, back(first!), back(last!))],
    },
  );
}

/** Adds an axis of size 1. */
export function unsqueeze(g: Graph, x: Value, axis: number): Value {
  return reshape(g, x, [...x.shape.slice(0, axis), 1, ...x.shape.slice(axis)]);
}

export function stack(g: Graph, inputs: readonly Value[], axis: number): Value {
  return concat(
    g,
    inputs.map((input) => unsqueeze(g, input, axis)),
    axis,
  );
}
