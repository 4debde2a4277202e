import { bool, int, invalid, optional, type Field } from '../fields';
import type { DType } from '../values';
import type { TensorMeta } from '../vocabulary';
import { floating, isFloat, mismatch, requireFloat, resolveDim, resolveDims, showShape } from './meta';
import { attrsOf, keepdimField, numberField, type NormalOpTable, type OpRow, type Rows } from './row';

type Reducer = 'sum' | 'mean' | 'amax' | 'amin' | 'norm';
type Arg = 'argmax' | 'argmin';

/** One dim or a list of them; none means all. */
const dimsField: Field<readonly number[] | undefined> = (value, name) => {
  if (value === undefined) return undefined;
  const list = Array.isArray(value) ? value : [value];
  for (const dim of list) {
    if (!Number.isSafeInteger(dim))
      throw invalid(`${name} must be an integer or a list of integers, got ${String(value)}`);
  }
  return list.length ? (list as readonly number[]) : undefined;
};

const axis = int();

function reducedDims(dims: readonly number[] | undefined, rank: number): readonly number[] {
  if (!dims) return Array.from({ length: rank }, (_, dim) => dim);
  if (rank === 0) {
    resolveDims(dims, rank);
    return [];
  }
  return [...resolveDims(dims, rank)].sort((a, b) => a - b);
}

function reduced(x: TensorMeta, attrs: NormalOpTable[Reducer], dtype: DType): readonly TensorMeta[] {
  const shape = attrs.keepdim
    ? x.shape.map((size, dim) => (attrs.dim.includes(dim) ? 1 : size))
    : x.shape.filter((_, dim) => !attrs.dim.includes(dim));
  return [{ shape, dtype }];
}

function reducer(name: Reducer, dtypeOf: (x: TensorMeta, attrs: NormalOpTable[Reducer]) => DType): OpRow<Reducer> {
  const read = attrsOf({ dim: dimsField, keepdim: keepdimField }, name);
  return {
    arity: 1,
    normalise: (attrs, [x]) => {
      const { dim, keepdim } = read(attrs);
      return { dim: reducedDims(dim, x!.shape.length), keepdim };
    },
    infer: ([x], attrs) => reduced(x!, attrs, dtypeOf(x!, attrs)),
  };
}

/** amax and amin have no value over no elements. */
function extreme(name: 'amax' | 'amin'): OpRow<Reducer> {
  return reducer(name, (x, { dim }) => {
    const empty = dim.find((at) => x.shape[at] === 0);
    if (empty !== undefined) {
      throw mismatch(`${name}(): Expected reduction dim ${empty} to have non-zero size, got ${showShape(x.shape)}`);
    }
    return x.dtype;
  });
}

function arg(name: Arg): OpRow<Arg> {
  const read = attrsOf({ dim: optional(axis), keepdim: keepdimField }, name);
  return {
    arity: 1,
    differentiable: false,
    normalise: (attrs, [x]) => {
      const { dim, keepdim } = read({ ...attrs, dim: attrs.dim ?? undefined });
      return { dim: dim === undefined ? null : resolveDim(dim, x!.shape.length), keepdim };
    },
    infer: ([x], { dim, keepdim }) => {
      if (x!.dtype === 'bool') throw invalid(`${name} of a bool tensor is not supported: cast it first`);
      const sizes = dim === null ? x!.shape : x!.shape.slice(dim, dim + 1);
      if (sizes.includes(0))
        throw mismatch(`${name}(): Expected reduction over a non-empty dim, got ${showShape(x!.shape)}`);
      const hit = (at: number) => dim === null || at === dim;
      const shape = keepdim ? x!.shape.map((size, at) => (hit(at) ? 1 : size)) : x!.shape.filter((_, at) => !hit(at));
      return [{ shape, dtype: 'int64' }];
    },
  };
}

const VAR = attrsOf({ dim: dimsField, keepdim: keepdimField, correction: numberField(1) }, 'var');
const CUMSUM = attrsOf({ dim: axis }, 'cumsum');
const TOPK = attrsOf({ dim: int({ default: -1 }), k: int({ min: 0 }) }, 'topk');
const SORT = attrsOf({ dim: int({ default: -1 }), descending: bool(false) }, 'sort');

export const REDUCE: Rows<Reducer | Arg | 'var' | 'cumsum' | 'topk' | 'sort'> = {
  sum: reducer('sum', (x) => (isFloat(x.dtype) ? x.dtype : 'int64')),
  mean: reducer('mean', (x) => {
    if (!isFloat(x.dtype)) {
      throw invalid(`mean(): Input dtype must be floating point, got ${x.dtype}: cast it to float32 first`);
    }
    return x.dtype;
  }),
  amax: extreme('amax'),
  amin: extreme('amin'),
  norm: reducer('norm', (x) => {
    requireFloat(x, 'norm');
    return floating(x.dtype);
  }),
  var: {
    arity: 1,
    normalise: (attrs, [x]) => {
      const { dim, keepdim, correction } = VAR(attrs);
      return { dim: reducedDims(dim, x!.shape.length), keepdim, correction };
    },
    infer: ([x], attrs) => {
      requireFloat(x!, 'var');
      return reduced(x!, attrs, x!.dtype);
    },
  },
  argmax: arg('argmax'),
  argmin: arg('argmin'),
  cumsum: {
    arity: 1,
    normalise: (attrs, [x]) => ({ dim: resolveDim(CUMSUM(attrs).dim, x!.shape.length) }),
    infer: ([x]) => [{ shape: x!.shape, dtype: isFloat(x!.dtype) ? x!.dtype : 'int64' }],
  },
  topk: {
    arity: 1,
    normalise: (attrs, [x]) => {
      const { dim, k } = TOPK(attrs);
      return { dim: resolveDim(dim, x!.shape.length), k };
    },
    infer: ([x], { dim, k }) => {
      if (k > (x!.shape[dim] ?? 1)) {
        throw invalid(`selected index k out of range: k = ${k}, dimension ${dim} of ${showShape(x!.shape)}`);
      }
      const shape = x!.shape.map((size, at) => (at === dim ? k : size));
      return [
        { shape, dtype: x!.dtype },
        { shape, dtype: 'int64' },
      ];
    },
  },
  sort: {
    arity: 1,
    normalise: (attrs, [x]) => {
      const { dim, descending } = SORT(attrs);
      return { dim: resolveDim(dim, x!.shape.length), descending };
    },
    infer: ([x]) => [
      { shape: x!.shape, dtype: x!.dtype },
      { shape: x!.shape, dtype: 'int64' },
    ],
  },
};
