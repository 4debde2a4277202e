import type { TensorFile } from './tensor-file';

export interface StatisticsLimits {
  /** Up to so many elements are all looked at. */
  readonly threshold: number;
  /** Above that, so many that are evenly spaced. */
  readonly sample: number;
}

export const STATISTICS_LIMITS: StatisticsLimits = { threshold: 4_000_000, sample: 1_000_000 };

const BINS = 64;
/** A tensor of whole numbers with at most so many different values is counted value by value. */
const MAX_CLASSES = 32;

/** Of the elements looked at, but for `count`. Minimum, maximum, mean and histogram are over the finite ones; null without any. */
export interface TensorStatistics {
  /** Elements of the tensor. */
  readonly count: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  readonly nan: number;
  readonly inf: number;
  readonly zero_frac: number;
  /** How many finite values lie in each of 64 equal parts of [min, max]; the last one includes `max`. */
  readonly histogram: readonly number[];
  /** Value -> how often it occurs; null for floating dtypes and for more than 32 values. */
  readonly class_balance: Readonly<Record<string, number>> | null;
  readonly sampled: boolean;
  /** How many elements were looked at. */
  readonly sample_size: number;
}

/** Reads the tensor twice: once for its range and counts, once for the histogram. */
export async function statisticsOf(
  file: TensorFile,
  dtype: string,
  { threshold, sample }: StatisticsLimits,
): Promise<TensorStatistics> {
  const count = file.length;
  const size = count > threshold ? Math.min(sample, count) : count;
  const range = new Range();
  const classes = dtype.startsWith('float') ? null : new Classes();
  await file.sample(size, (value) => {
    range.add(value);
    classes?.add(value);
  });
  const histogram = new Array<number>(BINS).fill(0);
  const { min, max, finite } = range;
  const scale = max > min ? BINS / (max - min) : 0;
  await file.sample(finite === 0 ? 0 : size, (value) => {
    if (!Number.isFinite(value)) return;
    const bin = Math.floor((value - min) * scale);
    histogram[Math.min(bin, BINS - 1)]! += 1;
  });
  return {
    count,
    min: finite ? min : null,
    max: finite ? max : null,
    mean: finite ? range.sum / finite : null,
    nan: range.nan,
    inf: range.inf,
    zero_frac: size === 0 ? 0 : range.zeros / size,
    histogram,
    class_balance: classes?.counts ?? null,
    sampled: size < count,
    sample_size: size,
  };
}

/** Range and counts of the values that were added; the range is that of the finite ones. */
export class Range {
  min = Infinity;
  max = -Infinity;
  sum = 0;
  finite = 0;
  nan = 0;
  inf = 0;
  zeros = 0;

  add(value: number): void {
    if (Number.isNaN(value)) this.nan += 1;
    else if (!Number.isFinite(value)) this.inf += 1;
    else {
      this.finite += 1;
      this.sum += value;
      if (value < this.min) this.min = value;
      if (value > this.max) this.max = value;
      if (value === 0) this.zeros += 1;
    }
  }
}

class Classes {
  private found: Map<number, number> | null = new Map();

  add(value: number): void {
    if (this.found === null) return;
    this.found.set(value, (this.found.get(value) ?? 0) + 1);
    if (this.found.size > MAX_CLASSES) this.found = null;
  }

  get counts(): Readonly<Record<string, number>> | null {
    if (this.found === null) return null;
    return Object.fromEntries(
      [...this.found].sort(([a], [b]) => a - b).map(([value, times]) => [String(value), times]),
    );
  }
}
