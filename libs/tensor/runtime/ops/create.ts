import { int, intList, invalid, num } from '../fields';
import { requireFloat } from './meta';
import { attrsOf, dtypeField, numberField, type Rows } from './row';

const sizes = intList({ min: 0 });
const FULL = attrsOf({ shape: sizes, value: num(), dtype: dtypeField('float32') }, 'full');
const ARANGE = attrsOf(
  { start: numberField(0), end: num(), step: numberField(1), dtype: dtypeField('int64') },
  'arange',
);
const RAND = attrsOf({ shape: sizes }, 'rand');
const RANDN = attrsOf({ shape: sizes, mean: numberField(0), std: num({ min: 0, default: 1 }) }, 'randn');
const RANDINT = attrsOf({ shape: sizes, low: int({ default: 0 }), high: int() }, 'randint');
const RANDPERM = attrsOf({ n: int({ min: 0 }) }, 'randperm');
const DROPOUT = attrsOf({ p: num({ min: 0, max: 1, default: 0.5 }) }, 'dropout');

/** Tensors from nothing, and the ops that draw from a generator. */
export const CREATE: Rows<'full' | 'arange' | 'rand' | 'randn' | 'randint' | 'randperm' | 'dropout'> = {
  full: {
    arity: 0,
    differentiable: false,
    normalise: FULL,
    infer: (_, { shape, dtype }) => [{ shape, dtype }],
  },
  arange: {
    arity: 0,
    differentiable: false,
    normalise: (attrs) => {
      const read = ARANGE(attrs);
      const { start, end, step } = read;
      if (![start, end, step].every(Number.isFinite)) throw invalid(`arange: unsupported range: ${start} -> ${end}`);
      if (step === 0) throw invalid('arange: step must be nonzero');
      if (step > 0 ? start > end : start < end) {
        throw invalid(
          `arange: upper bound and larger bound inconsistent with step sign: ${start} to ${end} by ${step}`,
        );
      }
      return read;
    },
    infer: (_, { start, end, step, dtype }) => [{ shape: [Math.ceil((end - start) / step)], dtype }],
  },
  rand: {
    arity: 0,
    random: true,
    differentiable: false,
    normalise: RAND,
    infer: (_, { shape }) => [{ shape, dtype: 'float32' }],
  },
  randn: {
    arity: 0,
    random: true,
    differentiable: false,
    normalise: RANDN,
    infer: (_, { shape }) => [{ shape, dtype: 'float32' }],
  },
  randint: {
    arity: 0,
    random: true,
    differentiable: false,
    normalise: (attrs) => {
      const read = RANDINT(attrs);
      if (read.low >= read.high) {
        throw invalid(`randint expects 'low' to be less than 'high', but got low=${read.low} >= high=${read.high}`);
      }
      return read;
    },
    infer: (_, { shape }) => [{ shape, dtype: 'int64' }],
  },
  randperm: {
    arity: 0,
    random: true,
    differentiable: false,
    normalise: RANDPERM,
    infer: (_, { n }) => [{ shape: [n], dtype: 'int64' }],
  },
  dropout: {
    arity: 1,
    random: true,
    normalise: DROPOUT,
    infer: ([x]) => {
      requireFloat(x!, 'dropout');
      return [{ shape: x!.shape, dtype: x!.dtype }];
    },
  },
};
