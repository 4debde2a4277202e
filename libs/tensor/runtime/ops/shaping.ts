import { int, intList, invalid, optional, show, type Field } from '../fields';
import type { Shape } from '../values';
import type { SliceRange, TensorMeta } from '../vocabulary';
import { elements, mismatch, promote, requireIndices, resolveDim, resolveDims, showShape } from './meta';
import { attrsOf, numberField, type NormalRange, type Rows } from './row';

const axis = int();

/** The size a -1 in `shape` stands for. */
function reshaped(from: Shape, shape: Shape): Shape {
  const total = elements(from);
  const open = shape.indexOf(-1);
  const refuse = () => mismatch(`shape '${showShape(shape)}' is invalid for input of size ${total}`);
  if (open < 0) {
    if (elements(shape) !== total) throw refuse();
    return shape;
  }
  if (shape.indexOf(-1, open + 1) >= 0)
    throw invalid(`reshape: only one dimension can be inferred, got ${showShape(shape)}`);
  const rest = -elements(shape);
  if (rest === 0 || total % rest !== 0) throw refuse();
  return shape.map((size) => (size === -1 ? total / rest : size));
}

function expanded(from: Shape, shape: Shape): Shape {
  const added = shape.length - from.length;
  if (added < 0) {
    throw mismatch(
      `expand: the number of sizes provided (${shape.length}) must be greater or equal to the number of dimensions in the tensor (${from.length})`,
    );
  }
  return shape.map((size, at) => {
    const old = at < added ? undefined : from[at - added]!;
    if (size === -1) {
      if (old === undefined) throw invalid(`expand: -1 is not allowed in a leading, non-existing dimension ${at}`);
      return old;
    }
    if (old !== undefined && old !== size && old !== 1) {
      throw mismatch(
        `The expanded size of the tensor (${size}) must match the existing size (${old}) at non-singleton dimension ${at}. ` +
          `Target sizes: ${showShape(shape)}. Tensor sizes: ${showShape(from)}`,
      );
    }
    return size;
  });
}

const RANGE = attrsOf({ start: optional(axis), stop: optional(axis), step: optional(axis) }, 'slice range');
const INDEX = attrsOf({ index: axis }, 'slice index');

/** numpy's rules for one axis. */
export function normaliseRange(range: SliceRange, size: number, at: number): NormalRange {
  if ('index' in range) {
    const { index } = INDEX(range);
    if (index < -size || index >= size) {
      throw invalid(`index ${index} is out of bounds for dimension ${at} with size ${size}`);
    }
    return { index: index < 0 ? index + size : index };
  }
  const { start, stop, step = 1 } = RANGE(range);
  if (step === 0) throw invalid('slice step must not be zero');
  const back = step < 0;
  const clamp = (value: number) =>
    Math.min(Math.max(value < 0 ? value + size : value, back ? -1 : 0), back ? size - 1 : size);
  const first = start === undefined ? (back ? size - 1 : 0) : clamp(start);
  const end = stop === undefined ? (back ? -1 : size) : clamp(stop);
  if (back) return { start: first < 0 ? -(size + 1) : first, stop: end < 0 ? -(size + 1) : end, step };
  return { start: first, stop: Math.max(first, end), step };
}

/** How many elements a normalised range picks. */
export function rangeLength(range: Extract<NormalRange, { start: number }>): number {
  const { start, stop, step } = range;
  const first = start < 0 ? -1 : start;
  const end = stop < 0 ? -1 : stop;
  return Math.max(0, Math.ceil((end - first) / step));
}

const rangesField: Field<readonly SliceRange[]> = (value, name) => {
  if (!Array.isArray(value)) throw invalid(`${name} must be a list of ranges, got ${show(value)}`);
  return value as readonly SliceRange[];
};

function joinable(inputs: readonly TensorMeta[], dim: number): void {
  const first = inputs[0]!.shape;
  for (const { shape } of inputs) {
    if (shape.length !== first.length) {
      throw mismatch(`Tensors must have same number of dimensions: got ${first.length} and ${shape.length}`);
    }
    shape.forEach((size, at) => {
      if (at !== dim && size !== first[at]) {
        throw mismatch(
          `Sizes of tensors must match except in dimension ${dim}. Expected size ${first[at]} but got size ${size} in dimension ${at}`,
        );
      }
    });
  }
}

const RESHAPE = attrsOf({ shape: intList({ min: -1 }) }, 'reshape');
const PERMUTE = attrsOf({ dims: intList() }, 'permute');
const SQUEEZE = attrsOf({ dim: optional(axis), dims: optional(intList()) }, 'squeeze');
const UNSQUEEZE = attrsOf({ dim: axis }, 'unsqueeze');
const EXPAND = attrsOf({ shape: intList({ min: -1 }) }, 'expand');
const CONCAT = attrsOf({ dim: int({ default: 0 }) }, 'concat');
const STACK = attrsOf({ dim: int({ default: 0 }) }, 'stack');
const CHUNK = attrsOf({ dim: int({ default: 0 }), chunks: int({ min: 1 }) }, 'chunk');
const SLICE = attrsOf({ ranges: rangesField }, 'slice');
const INDEX_SELECT = attrsOf({ dim: axis }, 'indexSelect');
const GATHER = attrsOf({ dim: axis }, 'gather');
const FLIP = attrsOf({ dims: intList() }, 'flip');
const PAD = attrsOf({ pads: intList(), value: numberField(0) }, 'pad');
const ONE_HOT = attrsOf({ classes: int({ min: 1 }) }, 'oneHot');

export const SHAPING: Rows<
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
> = {
  reshape: {
    arity: 1,
    normalise: (attrs, [x]) => ({ shape: reshaped(x!.shape, RESHAPE(attrs).shape) }),
    infer: ([x], { shape }) => [{ shape, dtype: x!.dtype }],
  },
  permute: {
    arity: 1,
    normalise: (attrs, [x]) => {
      const { dims } = PERMUTE(attrs);
      const rank = x!.shape.length;
      if (dims.length !== rank) {
        throw invalid(
          `permute: number of dims (${dims.length}) must match the number of dimensions of the tensor (${rank})`,
        );
      }
      return { dims: resolveDims(dims, rank) };
    },
    infer: ([x], { dims }) => [{ shape: dims.map((dim) => x!.shape[dim]!), dtype: x!.dtype }],
  },
  squeeze: {
    arity: 1,
    normalise: (attrs, [x]) => {
      const { dim, dims } = SQUEEZE(attrs);
      const rank = x!.shape.length;
      const candidates = dims ?? (dim === undefined ? x!.shape.map((_, at) => at) : [dim]);
      return { dims: candidates.map((at) => resolveDim(at, rank)).filter((at) => x!.shape[at] === 1) };
    },
    infer: ([x], { dims }) => [{ shape: x!.shape.filter((_, at) => !dims.includes(at)), dtype: x!.dtype }],
  },
  unsqueeze: {
    arity: 1,
    normalise: (attrs, [x]) => ({ dim: resolveDim(UNSQUEEZE(attrs).dim, x!.shape.length + 1) }),
    infer: ([x], { dim }) => [{ shape: [...x!.shape.slice(0, dim), 1, ...x!.shape.slice(dim)], dtype: x!.dtype }],
  },
  expand: {
    arity: 1,
    normalise: (attrs, [x]) => ({ shape: expanded(x!.shape, EXPAND(attrs).shape) }),
    infer: ([x], { shape }) => [{ shape, dtype: x!.dtype }],
  },
  concat: {
    arity: [1, Infinity],
    normalise: (attrs, [x]) => {
      if (x!.shape.length === 0) throw mismatch('zero-dimensional tensor (at position 0) cannot be concatenated');
      return { dim: resolveDim(CONCAT(attrs).dim, x!.shape.length) };
    },
    infer: (inputs, { dim }) => {
      joinable(inputs, dim);
      const size = inputs.reduce((sum, { shape }) => sum + shape[dim]!, 0);
      return [{ shape: inputs[0]!.shape.map((old, at) => (at === dim ? size : old)), dtype: promote(inputs) }];
    },
  },
  stack: {
    arity: [1, Infinity],
    normalise: (attrs, [x]) => ({ dim: resolveDim(STACK(attrs).dim, x!.shape.length + 1) }),
    infer: (inputs, { dim }) => {
      const { shape } = inputs[0]!;
      inputs.forEach((input, at) => {
        if (showShape(input.shape) !== showShape(shape)) {
          throw mismatch(
            `stack expects each tensor to be equal size, but got ${showShape(shape)} at entry 0 and ${showShape(input.shape)} at entry ${at}`,
          );
        }
      });
      return [{ shape: [...shape.slice(0, dim), inputs.length, ...shape.slice(dim)], dtype: promote(inputs) }];
    },
  },
  chunk: {
    arity: 1,
    normalise: (attrs, [x]) => {
      if (x!.shape.length === 0) throw mismatch('chunk expects at least a 1-dimensional tensor');
      const { dim, chunks } = CHUNK(attrs);
      return { dim: resolveDim(dim, x!.shape.length), chunks };
    },
    infer: ([x], { dim, chunks }) => {
      const size = x!.shape[dim]!;
      const each = Math.ceil(size / chunks);
      const count = size === 0 ? chunks : Math.ceil(size / each);
      return Array.from({ length: count }, (_, at) => ({
        shape: x!.shape.map((old, axisAt) => (axisAt === dim ? Math.min(each, size - at * each) : old)),
        dtype: x!.dtype,
      }));
    },
  },
  slice: {
    arity: 1,
    normalise: (attrs, [x]) => {
      const { ranges } = SLICE(attrs);
      if (ranges.length > x!.shape.length) {
        throw invalid(`too many indices for tensor of dimension ${x!.shape.length}: got ${ranges.length}`);
      }
      return { ranges: x!.shape.map((size, at) => normaliseRange(ranges[at] ?? {}, size, at)) };
    },
    infer: ([x], { ranges }) => [
      { shape: ranges.flatMap((range) => ('index' in range ? [] : [rangeLength(range)])), dtype: x!.dtype },
    ],
  },
  indexSelect: {
    arity: 2,
    normalise: (attrs, [x]) => ({ dim: resolveDim(INDEX_SELECT(attrs).dim, x!.shape.length) }),
    infer: ([x, index], { dim }) => {
      requireIndices(index!, 'indexSelect');
      if (index!.shape.length > 1) {
        throw mismatch(`indexSelect: Index is supposed to be a vector, got ${showShape(index!.shape)}`);
      }
      const count = index!.shape[0] ?? 1;
      if (x!.shape.length === 0 && count !== 1) {
        throw mismatch(`indexSelect: Index to scalar can have only 1 value, got ${count} value(s)`);
      }
      return [{ shape: x!.shape.map((size, at) => (at === dim ? count : size)), dtype: x!.dtype }];
    },
  },
  gather: {
    arity: 2,
    normalise: (attrs, [x]) => ({ dim: resolveDim(GATHER(attrs).dim, x!.shape.length) }),
    infer: ([x, index], { dim }) => {
      requireIndices(index!, 'gather');
      if (index!.shape.length !== x!.shape.length) {
        throw mismatch(
          `gather: Index tensor must have the same number of dimensions as input tensor, got ${showShape(index!.shape)} and ${showShape(x!.shape)}`,
        );
      }
      index!.shape.forEach((size, at) => {
        if (at !== dim && size > x!.shape[at]!) {
          throw mismatch(
            `gather: Size does not match at dimension ${at} expected index ${showShape(index!.shape)} to be smaller than self ${showShape(x!.shape)} apart from dimension ${dim}`,
          );
        }
      });
      return [{ shape: index!.shape, dtype: x!.dtype }];
    },
  },
  flip: {
    arity: 1,
    normalise: (attrs, [x]) => ({ dims: resolveDims(FLIP(attrs).dims, x!.shape.length) }),
    infer: ([x]) => [{ shape: x!.shape, dtype: x!.dtype }],
  },
  pad: {
    arity: 1,
    normalise: (attrs, [x]) => {
      const { pads, value } = PAD(attrs);
      if (pads.length % 2 !== 0) throw invalid(`pad: Padding length must be divisible by 2, got ${pads.length}`);
      if (pads.length / 2 > x!.shape.length) {
        throw invalid(`pad: Padding length too large: ${pads.length} for a tensor of ${x!.shape.length} dimensions`);
      }
      return { pads, value };
    },
    infer: ([x], { pads }) => {
      const rank = x!.shape.length;
      const shape = x!.shape.map((size, at) => {
        const from = 2 * (rank - 1 - at);
        const padded = size + (pads[from] ?? 0) + (pads[from + 1] ?? 0);
        if (padded < 0) {
          throw mismatch(
            `pad: The input size ${size}, plus negative padding ${pads[from]} and ${pads[from + 1]} resulted in a negative output size at dimension ${at}`,
          );
        }
        return padded;
      });
      return [{ shape, dtype: x!.dtype }];
    },
  },
  oneHot: {
    arity: 1,
    differentiable: false,
    normalise: ONE_HOT,
    infer: ([x], { classes }) => {
      requireIndices(x!, 'oneHot');
      return [{ shape: [...x!.shape, classes], dtype: 'int64' }];
    },
  },
};
