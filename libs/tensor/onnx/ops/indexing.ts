import { elements } from '../../runtime/ops/meta';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { cast, equal, less, mul, logicalNot, where } from './elementwise';
import { matmul } from './matmul';
import { expand, filled, reshape, transpose } from './shape';

/** Up to this many (rows times indices) the gradient of a table is a product with a 0-1 matrix, above it a scatter. */
const PRODUCT_SIZE = 2 ** 21;

/** Indices of which negative ones are out of range, as in PyTorch: the kernels would count them from the end. */
export function fromZero(g: Graph, index: Value, size: number): Value {
  return where(g, less(g, index, 0), size, index);
}

/**
 * Rows of `table[V, ...]` by index: shape of `index`, then that of a row. The row `padding` gets no gradient.
 * Never ScatterND for the gradient: with repeated indices it loses updates on two threads.
 */
export function rowsOf(g: Graph, table: Value, index: Value, padding: number | null = null): Value {
  const row = table.shape.slice(1);
  return g.op1(
    'Gather',
    [table, index],
    { shape: [...index.shape, ...row], dtype: table.dtype },
    {
      attributes: { axis: 0 },
      vjp: ([d]) => [() => rowGradient(g, d!, index, table.shape, padding)],
    },
  );
}

function rowGradient(g: Graph, d: Value, index: Value, shape: readonly number[], padding: number | null): Value {
  const count = elements(index.shape);
  const width = elements(shape.slice(1));
  const rows = shape[0]!;
  let flat = reshape(g, index, [count]);
  let gradients = reshape(g, d, [count, width]);
  if (rows * count <= PRODUCT_SIZE) {
    if (padding !== null) flat = where(g, equal(g, flat, padding), -1, flat);
    const numbers = g.numbers(
      flat.dtype,
      [rows, 1],
      Array.from({ length: rows }, (_, i) => i),
    );
    const hits = cast(g, equal(g, numbers, reshape(g, flat, [1, count])), d.dtype);
    return reshape(g, matmul(g, hits, gradients), shape);
  }
  if (padding !== null) {
    const real = cast(g, logicalNot(g, equal(g, flat, padding)), d.dtype);
    gradients = mul(g, gradients, reshape(g, real, [count, 1]));
  }
  const places = expand(g, reshape(g, flat, [count, 1]), [count, width]);
  return reshape(g, scatterAdd(g, filled(g, [rows, width], 0, d.dtype), places, gradients, 0), shape);
}

/** `into` with `updates` added at `index` along an axis; repeated indices add up. No gradient of its own. */
export function scatterAdd(g: Graph, into: Value, index: Value, updates: Value, axis: number): Value {
  return g.op1(
    'ScatterElements',
    [into, index, updates],
    { shape: into.shape, dtype: into.dtype },
    {
      attributes: { axis, reduction: 'add' },
    },
  );
}

/** Slices of one axis by a vector of indices. */
export function indexSelect(g: Graph, x: Value, index: Value, axis: number): Value {
  const list = reshape(g, index, [elements(index.shape)]);
  if (axis === 0) return rowsOf(g, x, list);
  const shape = x.shape.map((size, at) => (at === axis ? list.shape[0]! : size));
  return g.op1(
    'Gather',
    [x, list],
    { shape, dtype: x.dtype },
    {
      attributes: { axis },
      vjp: ([d]) => [
        () => {
          const front = [axis, ...x.shape.flatMap((_, at) => (at === axis ? [] : [at]))];
          const rows = rowGradient(
            g,
            transpose(g, d!, front),
            list,
            front.map((at) => x.shape[at]!),
            null,
          );
          return transpose(
            g,
            rows,
            front.map((_, at) => front.indexOf(at)),
          );
        },
      ],
    },
  );
}

/** One element per place of `index` along an axis, PyTorch's `gather`: other axes of `index` may be shorter than those of `x`. */
export function gather(g: Graph, x: Value, index: Value, axis: number): Value {
  return g.op1(
    'GatherElements',
    [x, index],
    { shape: index.shape, dtype: x.dtype },
    {
      attributes: { axis },
      vjp: ([d]) => [() => scatterAdd(g, filled(g, x.shape, 0, x.dtype), index, d!, axis)],
    },
  );
}

/** The `k` largest (or smallest) along an axis in order, and where they were. */
export function topk(g: Graph, x: Value, k: number, axis: number, largest = true): readonly [Value, Value] {
  const shape = x.shape.map((size, at) => (at === axis ? k : size));
  const outputs = [
    { shape, dtype: x.dtype },
    { shape, dtype: 'int64' as const },
  ];
  const result: readonly Value[] = g.op('TopK', [x, g.ints([k])], outputs, {
    attributes: { axis, largest: largest ? 1 : 0, sorted: 1 },
    vjp: ([d]) => [d ? () => scatterAdd(g, filled(g, x.shape, 0, x.dtype), result[1]!, d, axis) : null],
  });
  return [result[0]!, result[1]!];
}
