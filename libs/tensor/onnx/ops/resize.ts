import type { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { adaptiveAvgPool2d, enlarge, resample, type AxisMap } from './pool';
import { sum } from './reduce';
import { reshape } from './shape';

/** PyTorch's `interpolate` by a scale factor, corners not aligned. */
export function upsample(g: Graph, x: Value, mode: 'nearest' | 'bilinear' | 'area', scale: number): Value {
  const [h, w] = x.shape.slice(2) as [number, number];
  const [oh, ow] = [Math.floor(h * scale), Math.floor(w * scale)] as const;
  if (mode === 'area') return adaptiveAvgPool2d(g, x, [oh, ow]);
  if (mode === 'bilinear') return resample(g, x, linearMap(h, oh, scale), linearMap(w, ow, scale));
  if (!Number.isInteger(scale) || x.dtype !== 'float32') {
    return resample(g, x, nearestMap(h, oh, scale), nearestMap(w, ow, scale));
  }
  return repeated(g, x, scale);
}

/** Each element becomes a square; its gradient is the square's sum. */
function repeated(g: Graph, x: Value, scale: number): Value {
  if (scale === 1) return x;
  const [n, c, h, w] = x.shape as readonly [number, number, number, number];
  const vjp = (d: Value) => reshape(g, sum(g, reshape(g, d, [n * c, h, scale, w, scale]), [2, 4]), x.shape);
  return enlarge(g, x, [scale, scale], vjp);
}

function nearestMap(size: number, out: number, scale: number): AxisMap {
  const step = Math.fround(1 / scale);
  return Array.from({ length: out }, (_, i) => {
    const from = Math.min(Math.floor(Math.fround(i * step)), size - 1);
    return Array.from({ length: size }, (_unused, at) => (at === from ? 1 : 0));
  });
}

function linearMap(size: number, out: number, scale: number): AxisMap {
  return Array.from({ length: out }, (_, i) => {
    const place = Math.max(0, (i + 0.5) / scale - 0.5);
    const low = Math.min(Math.floor(place), size - 1);
    const high = Math.min(low + 1, size - 1);
    const row = new Array<number>(size).fill(0);
    row[low]! += 1 - (place - low);
    row[high]! += place - low;
    return row;
  });
}
