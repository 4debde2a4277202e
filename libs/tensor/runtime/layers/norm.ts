import { bool, int, intList, invalid, num, only, type Field } from '../fields';
import { elements, mismatch, requireFloat, showShape } from '../ops/meta';
import { buffer, layer, ONES, parameter, ZEROS } from './row';

export interface BatchNormParams {
  readonly num_features: number;
  readonly eps: number;
  /** Share of the batch in the running statistics. */
  readonly momentum: number;
  readonly affine: boolean;
}

function batchNorm(name: 'BatchNorm1d' | 'BatchNorm2d', ranks: readonly number[]) {
  return layer(
    name,
    {
      num_features: int({ min: 1 }),
      eps: num({ above: 0, default: 1e-5 }),
      momentum: num({ min: 0, max: 1, default: 0.1 }),
      affine: bool(true),
      track_running_stats: only(true),
    },
    {
      derive: ({ num_features, eps, momentum, affine }): BatchNormParams => ({ num_features, eps, momentum, affine }),
      weights: ({ num_features, affine }) => [
        ...(affine ? [parameter('weight', [num_features], ONES), parameter('bias', [num_features], ZEROS)] : []),
        buffer('running_mean', [num_features], ZEROS),
        buffer('running_var', [num_features], ONES),
        buffer('num_batches_tracked', [], ZEROS, 'int64'),
      ],
      infer: ([x], { num_features }, mode) => {
        requireFloat(x!, name);
        const { shape } = x!;
        if (!ranks.includes(shape.length)) {
          const wanted = ranks.map((rank) => `${rank}D`).join(' or ');
          throw mismatch(`${name}: expected ${wanted} input (got ${shape.length}D input ${showShape(shape)})`);
        }
        if (shape[1] !== num_features) {
          throw mismatch(
            `running_mean should contain ${shape[1]} elements not ${num_features}: ${name} got ${showShape(shape)}`,
          );
        }
        if (mode === 'train' && elements(shape) / num_features <= 1) {
          throw mismatch(`Expected more than 1 value per channel when training, got input size ${showShape(shape)}`);
        }
        return [{ shape, dtype: x!.dtype }];
      },
    },
  );
}

export interface LayerNormParams {
  readonly normalized_shape: readonly number[];
  readonly eps: number;
  readonly elementwise_affine: boolean;
  /** Of the affine part; false without `elementwise_affine`. */
  readonly bias: boolean;
}

const shapeField: Field<readonly number[]> = (value, name) => {
  const list = intList({ min: 1 })(typeof value === 'number' ? [value] : value, name);
  if (list.length === 0) throw invalid(`${name} must name at least one dimension`);
  return list;
};

const LayerNorm = layer(
  'LayerNorm',
  {
    normalized_shape: shapeField,
    eps: num({ above: 0, default: 1e-5 }),
    elementwise_affine: bool(true),
    bias: bool(true),
  },
  {
    derive: (read): LayerNormParams => ({ ...read, bias: read.bias && read.elementwise_affine }),
    weights: ({ normalized_shape, elementwise_affine, bias }) => [
      ...(elementwise_affine ? [parameter('weight', normalized_shape, ONES)] : []),
      ...(bias ? [parameter('bias', normalized_shape, ZEROS)] : []),
    ],
    infer: ([x], { normalized_shape }) => {
      requireFloat(x!, 'LayerNorm');
      const { shape } = x!;
      const tail = shape.slice(shape.length - normalized_shape.length);
      if (shape.length < normalized_shape.length || tail.some((size, at) => size !== normalized_shape[at])) {
        throw mismatch(
          `Given normalized_shape=${showShape(normalized_shape)}, expected input with shape [*, ${normalized_shape.join(', ')}], ` +
            `but got input of size${showShape(shape)}`,
        );
      }
      return [{ shape, dtype: x!.dtype }];
    },
  },
);

export const NORM_LAYERS = {
  BatchNorm1d: batchNorm('BatchNorm1d', [2, 3]),
  BatchNorm2d: batchNorm('BatchNorm2d', [4]),
  LayerNorm,
};
