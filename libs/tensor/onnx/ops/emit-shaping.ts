import type { NormalRange } from '../../runtime';
import { rangeLength } from '../../runtime';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { cast, equal } from './elementwise';
import type { OpEmitters } from './emit-row';
import { fromZero, gather, indexSelect } from './indexing';
import { promoted } from './mixed';
import {
  concat,
  expand,
  filled,
  pad,
  reshape,
  reverse,
  slice,
  split,
  stack,
  transpose,
  unsqueeze,
  type AxisRange,
} from './shape';

type Names =
  | 'reshape'
  | 'permute'
  | 'squeeze'
  | 'unsqueeze'
  | 'expand'
  | 'concat'
  | 'stack'
  | 'chunk'
  | 'slice'
  | 'indexSelect'
  | 'gather'
  | 'flip'
  | 'pad'
  | 'oneHot'
  | 'full'
  | 'arange';

function sliced(g: Graph, x: Value, ranges: readonly NormalRange[]): Value {
  const parts = ranges.map((range, axis): AxisRange => {
    if ('index' in range) return { axis, start: range.index, stop: range.index + 1 };
    if (rangeLength(range) === 0) return { axis, start: 0, stop: 0 };
    return { axis, start: range.start, stop: Math.max(-1, range.stop), step: range.step };
  });
  const part = slice(g, x, parts);
  return reshape(
    g,
    part,
    part.shape.filter((_, axis) => !('index' in ranges[axis]!)),
  );
}

/** Shapes, places, and tensors from nothing. */
export const SHAPING: OpEmitters<Names> = {
  reshape: (g, [x], { shape }) => reshape(g, x, shape),
  permute: (g, [x], { dims }) => transpose(g, x, dims),
  squeeze: (g, [x], { dims }) =>
    reshape(
      g,
      x,
      x.shape.filter((_, axis) => !dims.includes(axis)),
    ),
  unsqueeze: (g, [x], { dim }) => unsqueeze(g, x, dim),
  expand: (g, [x], { shape }) => expand(g, x, shape),
  concat: (g, inputs, { dim }) => concat(g, promoted(g, ...inputs), dim),
  stack: (g, inputs, { dim }) => stack(g, promoted(g, ...inputs), dim),
  chunk: (g, [x], { dim, chunks }) => {
    const size = x.shape[dim]!;
    const each = Math.ceil(size / chunks);
    const count = size === 0 ? chunks : Math.ceil(size / each);
    return split(
      g,
      x,
      dim,
      Array.from({ length: count }, (_, i) => Math.min(each, size - i * each)),
    );
  },
  slice: (g, [x], { ranges }) => sliced(g, x, ranges),
  indexSelect: (g, [x, index], { dim }) => {
    const places = fromZero(g, index!, x.shape[dim] ?? 1);
    return x.shape.length === 0
      ? reshape(g, indexSelect(g, reshape(g, x, [1]), places, 0), [])
      : indexSelect(g, x, places, dim);
  },
  gather: (g, [x, index], { dim }) => {
    const places = fromZero(g, index!, x.shape[dim] ?? 1);
    return x.shape.length === 0
      ? reshape(g, gather(g, reshape(g, x, [1]), reshape(g, places, [1]), 0), [])
      : gather(g, x, places, dim);
  },
  flip: (g, [x], { dims }) => reverse(g, x, dims),
  pad: (g, [x], { pads, value }) => {
    const rank = x.shape.length;
    const side = (offset: number) => x.shape.map((_, axis) => pads[2 * (rank - 1 - axis) + offset] ?? 0);
    return pad(g, x, side(0), side(1), value);
  },
  oneHot: (g, [x], { classes }) => {
    const numbers = g.numbers(
      x.dtype,
      [classes],
      Array.from({ length: classes }, (_, i) => i),
    );
    return cast(g, equal(g, unsqueeze(g, x, x.shape.length), numbers), 'int64');
  },
  full: (g, _, { shape, value, dtype }) =>
    filled(g, shape, dtype === 'float32' || dtype === 'float64' ? value : Math.trunc(value), dtype),
  arange: (g, _, { start, end, step, dtype }) => {
    const length = Math.ceil((end - start) / step);
    const whole = dtype === 'float32' || dtype === 'float64' ? (v: number) => v : Math.trunc;
    return g.numbers(
      dtype,
      [length],
      Array.from({ length }, (_unused, i) => whole(start + i * step)),
    );
  },
};
