import type { DataLoaderValue, DatasetValue } from '@cdui/node-sdk';
import type { Handle } from '@cdui/tensor/runtime';
import { RandomStream } from './random';

/** The rows 0 ... length-1 in batches, in order. */
export function* sequentialBatches(length: number, batchSize: number): Generator<Int32Array> {
  for (let start = 0; start < length; start += batchSize) {
    const size = Math.min(batchSize, length - start);
    yield Int32Array.from({ length: size }, (_, i) => start + i);
  }
}

/** A data set in batches, shuffled anew for every epoch from one seeded stream. */
export class Loader implements DataLoaderValue {
  readonly kind = 'dataloader';
  readonly length: number;
  private readonly random: RandomStream;

  /** @param seed of the shuffling; null takes one from the operating system */
  constructor(
    readonly dataset: DatasetValue,
    readonly batchSize: number,
    readonly shuffle: boolean,
    readonly dropLast: boolean,
    seed: number | null,
  ) {
    const batches = dataset.length / batchSize;
    this.length = dropLast ? Math.floor(batches) : Math.ceil(batches);
    this.random = new RandomStream(seed);
  }

  handles(): readonly Handle[] {
    return this.dataset.handles();
  }

  *epoch(): Generator<Int32Array> {
    if (!this.shuffle) {
      for (const rows of sequentialBatches(this.dataset.length, this.batchSize)) {
        if (this.dropLast && rows.length < this.batchSize) return;
        yield rows;
      }
      return;
    }
    const order = this.random.permutation(this.dataset.length);
    for (let batch = 0; batch < this.length; batch++) {
      yield order.slice(batch * this.batchSize, (batch + 1) * this.batchSize);
    }
  }
}
