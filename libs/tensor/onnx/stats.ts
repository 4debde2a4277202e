import type { Tensor } from 'onnxruntime-node';
import { elements, isFloat, type DType, type TensorStats } from '../runtime';
import { dataOf, type DataArray, type NumberArray } from './tensors';

/** Up to so many elements are all looked at. */
const EXACT = 4 * 1024 * 1024;
const SAMPLE = 1024 * 1024;
const BINS = 64;
/** Whole numbers with at most so many different values are counted one by one. */
const MAX_CLASSES = 32;

/**
 * Summary of a tensor. Minimum, maximum, mean, norm and histogram are over the finite elements (NaN without any); `count` is the size of the tensor,
 * `nan`, `inf` and `zeroFraction` are of the elements looked at, which are evenly spaced above 4M.
 */
export function statsOf(tensor: Tensor): TensorStats {
  const count = elements(tensor.dims);
  const values = lookedAt(dataOf(tensor));
  let [min, max, sum, squares, nan, inf, zeros] = [Infinity, -Infinity, 0, 0, 0, 0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value !== value) nan++;
    else if (value === Infinity || value === -Infinity) inf++;
    else {
      if (value < min) min = value;
      if (value > max) max = value;
      if (value === 0) zeros++;
      sum += value;
      squares += value * value;
    }
  }
  const finite = values.length - nan - inf;
  const classes = isFloat(tensor.type as DType) ? undefined : countClasses(values);
  return {
    count,
    min: finite ? min : NaN,
    max: finite ? max : NaN,
    mean: finite ? sum / finite : NaN,
    nan,
    inf,
    zeroFraction: values.length ? zeros / values.length : 0,
    norm: Math.sqrt(squares),
    histogram: histogramOf(values, min, max),
    ...(classes ? { classes } : {}),
    sampled: values.length < count,
  };
}

/** All elements, or an evenly spaced sample, as plain numbers. */
function lookedAt(data: DataArray): NumberArray {
  const sampled = data.length > EXACT;
  if (!sampled && !(data instanceof BigInt64Array)) return data;
  const out = new Float64Array(sampled ? SAMPLE : data.length);
  const { floor } = Math;
  const stride = data.length / out.length;
  for (let i = 0; i < out.length; i++) {
    const value = data[sampled ? floor(i * stride) : i]!;
    out[i] = typeof value === 'bigint' ? Number(value) : value;
  }
  return out;
}

/** How many finite values lie in each of the bins between `min` and `max`; the last one includes `max`. */
function histogramOf(values: NumberArray, min: number, max: number): number[] {
  const counts = new Array<number>(BINS).fill(0);
  const scale = max > min ? BINS / (max - min) : 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    // False for NaN and infinities too.
    if (!(value >= min && value <= max)) continue;
    const bin = ((value - min) * scale) | 0;
    counts[bin < BINS ? bin : BINS - 1]!++;
  }
  return counts;
}

function countClasses(values: NumberArray): Record<string, number> | undefined {
  const counts = new Map<number, number>();
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    counts.set(value, (counts.get(value) ?? 0) + 1);
    if (counts.size > MAX_CLASSES) return undefined;
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => a - b).map(([value, times]) => [String(value), times]));
}
