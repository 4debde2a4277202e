import { broadcast, elements, showShape } from '../../runtime/ops/meta';
import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { mul } from './elementwise';
import { sum } from './reduce';
import { mismatch, reshape, swapLast, unbroadcast } from './shape';

export interface MatmulOptions {
  /** Use the transpose (last two axes) of the operand, without making it. */
  readonly transA?: boolean;
  readonly transB?: boolean;
  /** Factor of the product. */
  readonly alpha?: number;
}

/** Batched matrix product of tensors of at least two dimensions: `a[..., m, k] b[..., k, n]`. */
export function matmul(g: Graph, a: Value, b: Value, options: MatmulOptions = {}): Value {
  const { transA = false, transB = false, alpha = 1 } = options;
  if (a.shape.length < 2 || b.shape.length < 2) {
    throw mismatch('matmul', `needs matrices, got ${showShape(a.shape)} and ${showShape(b.shape)}`);
  }
  const [m, k] = transA ? [a.shape.at(-1)!, a.shape.at(-2)!] : [a.shape.at(-2)!, a.shape.at(-1)!];
  const [k2, n] = transB ? [b.shape.at(-1)!, b.shape.at(-2)!] : [b.shape.at(-2)!, b.shape.at(-1)!];
  if (k !== k2) throw mismatch('matmul', `${showShape(a.shape)} and ${showShape(b.shape)} cannot be multiplied`);
  const output = { shape: [...broadcast(a.shape.slice(0, -2), b.shape.slice(0, -2)), m, n], dtype: a.dtype };
  const vjp = ([d]: readonly (Value | null)[]) => [
    () =>
      unbroadcast(
        g,
        transA
          ? matmul(g, b, d!, { transA: transB, transB: true, alpha })
          : matmul(g, d!, b, { transB: !transB, alpha }),
        a.shape,
      ),
    () =>
      unbroadcast(
        g,
        transB
          ? matmul(g, d!, a, { transA: true, transB: transA, alpha })
          : matmul(g, a, d!, { transA: !transA, alpha }),
        b.shape,
      ),
  ];
  if (!transA && !transB && alpha === 1) return g.op1('MatMul', [a, b], output, { vjp });
  const flags = { transA: Number(transA), transB: Number(transB), alpha: { float: alpha } };
  if (a.shape.length === 2 && b.shape.length === 2) return g.op1('Gemm', [a, b], output, { attributes: flags, vjp });
  if (a.dtype === 'float32') {
    return g.op1('FusedMatMul', [a, b], output, { attributes: flags, domain: 'com.microsoft', vjp });
  }
  // The fused kernel is float32 only.
  const product = matmul(g, transA ? swapLast(g, a) : a, transB ? swapLast(g, b) : b);
  return alpha === 1 ? product : mul(g, product, alpha);
}

/** `x W^T + b` over the last axis; PyTorch's weight layout `[out, in]`. */
export function linear(g: Graph, x: Value, weight: Value, bias: Value | null): Value {
  const [outSize, inSize] = weight.shape as readonly [number, number];
  if (x.shape.at(-1) !== inSize) {
    throw mismatch('linear', `${showShape(x.shape)} does not end in the weight's ${inSize} features`);
  }
  const rows = reshape(g, x, [elements(x.shape.slice(0, -1)), inSize]);
  const inputs = bias ? [rows, weight, bias] : [rows, weight];
  const y = g.op1(
    'Gemm',
    inputs,
    { shape: [rows.shape[0]!, outSize], dtype: x.dtype },
    {
      attributes: { transB: 1 },
      vjp: ([d]) => [() => matmul(g, d!, weight), () => matmul(g, d!, rows, { transA: true }), () => sum(g, d!, [0])],
    },
  );
  return reshape(g, y, [...x.shape.slice(0, -1), outSize]);
}

/** PyTorch's `matmul`: vectors count as a row on the left and a column on the right, leading axes broadcast. */
export function matmulAny(g: Graph, a: Value, b: Value): Value {
  const left = a.shape.length === 1 ? reshape(g, a, [1, ...a.shape]) : a;
  const right = b.shape.length === 1 ? reshape(g, b, [...b.shape, 1]) : b;
  // One matrix on the right: a single product of all rows, and no sum over batches in its gradient.
  const flat = right.shape.length === 2 && left.shape.length > 2;
  const rows = flat ? reshape(g, left, [elements(left.shape.slice(0, -1)), left.shape.at(-1)!]) : left;
  const product = matmul(g, rows, right);
  const full = flat ? [...left.shape.slice(0, -1), right.shape[1]!] : product.shape;
  const shape = full.filter(
    (_, axis) =>
      !(axis === full.length - 2 && a.shape.length === 1) && !(axis === full.length - 1 && b.shape.length === 1),
  );
  return reshape(g, product, shape);
}
