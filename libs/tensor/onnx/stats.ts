import type { Tensor } from 'onnxruntime-node';
import { elements, isFloat, type DType, type TensorStats } from '../runtime';
import { dataOf } from './tensors';

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
  const data = dataOf(tensor);
  const count = elements(tensor.dims);
  const sampled = count > EXACT;
  const looked = sampled ? SAMPLE : count;
  const stride = sampled ? count / SAMPLE : 1;
  const at = (i: number) => Number(data[sampled ? Math.floor(i * stride) : i]!);
  let [min, max, sum, squares, nan, inf, zeros] = [Infinity, -Infinity, 0, 0, 0, 0, 0];
  for (let i = 0; i < looked; i++) {
    const value = at(i);
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
  const finite = looked - nan - inf;
  const histogram = new Array<number>(BINS).fill(0);
  if (finite > 0) {
    const width = (max - min) / BINS;
    for (let i = 0; i < looked; i++) {
      const value = at(i);
      if (!Number.isFinite(value)) continue;
      histogram[width > 0 ? Math.min(BINS - 1, Math.floor((value - min) / width)) : 0]!++;
    }
  }
  const classes = isFloat(tensor.type as DType) ? undefined : countClasses(looked, at);
  return {
    count,
    min: finite ? min : NaN,
    max: finite ? max : NaN,
    mean: finite ? sum / finite : NaN,
    nan,
    inf,
    zeroFraction: looked ? zeros / looked : 0,
    norm: Math.sqrt(squares),
    histogram,
    ...(classes ? { classes } : {}),
    sampled,
  };
}

function countClasses(looked: number, at: (i: number) => number): Record<string, number> | undefined {
  const counts = new Map<number, number>();
  for (let i = 0; i < looked; i++) {
    const value = at(i);
    counts.set(value, (counts.get(value) ?? 0) + 1);
    if (counts.size > MAX_CLASSES) return undefined;
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => a - b).map(([value, times]) => [String(value), times]));
}
