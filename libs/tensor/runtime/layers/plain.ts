import { ignored, int, invalid, num, oneOf, type Field, type Schema } from '../fields';
import { broadcast, elements, mismatch, promote, requireFloat, resolveDim, showShape } from '../ops/meta';
import type { TensorMeta } from '../vocabulary';
import { layer, parameter } from './row';

const same = (name: string) => (inputs: readonly TensorMeta[]) => {
  requireFloat(inputs[0]!, name);
  return [{ shape: inputs[0]!.shape, dtype: inputs[0]!.dtype }];
};

/** An activation without arguments but `inplace`, which changes no result. */
function bare(name: string) {
  return layer(name, { inplace: ignored }, { derive: () => ({}), infer: same(name) });
}

/** An activation whose arguments are used as they are read. */
function shaped<S extends Schema>(name: string, fields: S) {
  return layer(name, fields, {
    derive: (read) =>
      Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as typeof read,
    infer: same(name),
  });
}

export interface FlattenParams {
  readonly start_dim: number;
  readonly end_dim: number;
}
export interface ReshapeParams {
  /** Without the batch dimension, which is kept; one may be -1. */
  readonly shape: readonly number[];
}

const Flatten = layer(
  'Flatten',
  { start_dim: int({ default: 1 }), end_dim: int({ default: -1 }) },
  {
    derive: (read): FlattenParams => read,
    infer: ([x], { start_dim, end_dim }) => {
      const { shape } = x!;
      const start = resolveDim(start_dim, shape.length);
      const end = resolveDim(end_dim, shape.length);
      if (start > end) throw invalid('flatten() has invalid args: start_dim cannot come after end_dim');
      if (shape.length === 0) return [{ shape: [1], dtype: x!.dtype }];
      const joined = elements(shape.slice(start, end + 1));
      return [{ shape: [...shape.slice(0, start), joined, ...shape.slice(end + 1)], dtype: x!.dtype }];
    },
  },
);

/** "a, b" or [a, b]. */
const sizesField: Field<readonly number[]> = (value, name) => {
  const parts: readonly unknown[] =
    typeof value === 'string'
      ? value.split(',').map((part) => (/^\s*-?\d+\s*$/.test(part) ? Number(part) : part))
      : Array.isArray(value)
        ? value
        : [value];
  return parts.map((part) => {
    const size = int({ min: -1 })(part, name);
    if (size === 0) throw invalid(`${name}: a size must be positive, or -1 for the one that is inferred`);
    return size;
  });
};

const Reshape = layer(
  'Reshape',
  { shape: sizesField },
  {
    derive: ({ shape }): ReshapeParams => {
      if (shape.indexOf(-1) !== shape.lastIndexOf(-1)) {
        throw invalid(`Reshape: only one dimension can be inferred, got ${showShape(shape)}`);
      }
      return { shape };
    },
    infer: ([x], { shape }) => {
      if (x!.shape.length === 0) throw mismatch('Reshape keeps the batch dimension, but got a tensor of no dimensions');
      const [batch, ...rest] = x!.shape;
      const total = elements(rest);
      const known = Math.abs(elements(shape));
      const open = shape.includes(-1);
      if (open ? total % known !== 0 : total !== known) {
        throw mismatch(`shape '${showShape([batch!, ...shape])}' is invalid for input of size ${elements(x!.shape)}`);
      }
      return [{ shape: [batch!, ...shape.map((size) => (size === -1 ? total / known : size))], dtype: x!.dtype }];
    },
  },
);

export interface SelectIndexParams {
  readonly dim: number;
  readonly index: number;
}

const SelectIndex = layer(
  'SelectIndex',
  { dim: int({ default: 1 }), index: int({ default: 0 }) },
  {
    derive: (read): SelectIndexParams => read,
    infer: ([x], { dim, index }) => {
      if (x!.shape.length === 0) throw mismatch('SelectIndex cannot be applied to a tensor of no dimensions');
      const at = resolveDim(dim, x!.shape.length);
      const size = x!.shape[at]!;
      if (index < -size || index >= size) {
        throw mismatch(
          `select(): index ${index} out of range for tensor of size ${showShape(x!.shape)} at dimension ${dim}`,
        );
      }
      return [{ shape: x!.shape.filter((_, axis) => axis !== at), dtype: x!.dtype }];
    },
  },
);

const Dropout = layer(
  'Dropout',
  { p: num({ min: 0, max: 1, default: 0.5 }), inplace: ignored },
  {
    derive: ({ p }) => ({ p }),
    infer: same('Dropout'),
  },
);

const PReLU = layer(
  'PReLU',
  { num_parameters: int({ min: 1, default: 1 }), init: num({ default: 0.25 }) },
  {
    derive: (read) => read,
    weights: ({ num_parameters, init }) => [parameter('weight', [num_parameters], { kind: 'constant', value: init })],
    infer: ([x], { num_parameters }) => {
      const channels = x!.shape.length > 1 ? x!.shape[1]! : 1;
      if (num_parameters !== 1 && num_parameters !== channels) {
        throw mismatch(
          `Mismatch of parameter numbers and input channel size. Found parameter numbers = ${num_parameters} and channel size = ${channels}`,
        );
      }
      return same('PReLU')([x!]);
    },
  },
);

const Softmax = layer(
  'Softmax',
  { dim: int({ default: -1 }) },
  {
    derive: (read) => read,
    infer: ([x], { dim }) => {
      resolveDim(dim, x!.shape.length);
      return same('Softmax')([x!]);
    },
  },
);

/** Left fold with broadcasting. */
function folded(name: string, arity: readonly [number, number] | number) {
  return layer(
    name,
    {},
    {
      arity,

      derive: (read) => read,
      infer: (inputs) => {
        const dtype = promote(inputs);
        if (name === 'Subtract' && dtype === 'bool')
          throw invalid('Subtraction with a bool tensor is not supported: cast it first');
        return [{ shape: broadcast(...inputs.map((input) => input.shape)), dtype }];
      },
    },
  );
}

function requireEqual(inputs: readonly TensorMeta[]): void {
  inputs.forEach((input, at) => {
    if (showShape(input.shape) !== showShape(inputs[0]!.shape)) {
      throw mismatch(
        `stack expects each tensor to be equal size, but got ${showShape(inputs[0]!.shape)} at entry 0 and ${showShape(input.shape)} at entry ${at}`,
      );
    }
  });
}

const Mean = layer(
  'Mean',
  {},
  {
    arity: [2, Infinity],

    derive: (read) => read,
    infer: (inputs) => {
      requireEqual(inputs);
      const dtype = promote(inputs);
      requireFloat({ shape: [], dtype }, 'Mean');
      return [{ shape: inputs[0]!.shape, dtype }];
    },
  },
);

const Concat = layer(
  'Concat',
  { dim: int({ default: 1 }) },
  {
    arity: [1, Infinity],

    derive: (read) => read,
    infer: (inputs, { dim }) => {
      const first = inputs[0]!.shape;
      if (first.length === 0) throw mismatch('zero-dimensional tensor (at position 0) cannot be concatenated');
      const at = resolveDim(dim, first.length);
      for (const { shape } of inputs) {
        if (shape.length !== first.length) {
          throw mismatch(`Tensors must have same number of dimensions: got ${first.length} and ${shape.length}`);
        }
        const bad = shape.findIndex((size, axis) => axis !== at && size !== first[axis]);
        if (bad >= 0) {
          throw mismatch(
            `Sizes of tensors must match except in dimension ${at}. Expected size ${first[bad]} but got size ${shape[bad]} in dimension ${bad}`,
          );
        }
      }
      const size = inputs.reduce((sum, { shape }) => sum + shape[at]!, 0);
      return [{ shape: first.map((old, axis) => (axis === at ? size : old)), dtype: promote(inputs) }];
    },
  },
);

const Stack = layer(
  'Stack',
  { dim: int({ default: 1 }) },
  {
    arity: [1, Infinity],

    derive: (read) => read,
    infer: (inputs, { dim }) => {
      requireEqual(inputs);
      const { shape } = inputs[0]!;
      const at = resolveDim(dim, shape.length + 1);
      return [{ shape: [...shape.slice(0, at), inputs.length, ...shape.slice(at)], dtype: promote(inputs) }];
    },
  },
);

export const PLAIN_LAYERS = { Flatten, Reshape, SelectIndex, Dropout };

export const ACTIVATION_LAYERS = {
  ReLU: bare('ReLU'),
  GELU: shaped('GELU', { approximate: oneOf(['none', 'tanh'], 'none') }),
  Sigmoid: bare('Sigmoid'),
  Tanh: bare('Tanh'),
  LeakyReLU: shaped('LeakyReLU', { negative_slope: num({ default: 0.01 }), inplace: ignored }),
  ELU: shaped('ELU', { alpha: num({ default: 1 }), inplace: ignored }),
  SiLU: bare('SiLU'),
  Mish: bare('Mish'),
  SELU: bare('SELU'),
  PReLU,
  Hardswish: bare('Hardswish'),
  Softmax,
};

/** Layers that join several inputs. */
export const MERGE_LAYERS = {
  Add: folded('Add', [2, Infinity]),
  Subtract: folded('Subtract', 2),
  Multiply: folded('Multiply', [2, Infinity]),
  Mean,
  Concat,
  Stack,
};
