/** The numbers of a training run: losses of the batches of the epoch at hand, and one row per finished epoch. */
export class History {
  /** Mean of the batch losses of each finished epoch. */
  readonly losses: number[] = [];
  readonly valLosses: number[] = [];
  readonly rates: number[] = [];
  /** Loss of the newest batch; null before the first. */
  lastBatchLoss: number | null = null;
  private batches = 0;
  private epochSum = 0;
  private epochCount = 0;

  beginEpoch(): void {
    this.epochSum = 0;
    this.epochCount = 0;
  }

  /** Takes the losses of batches in order and returns how many there were before, over all epochs. */
  add(losses: Float32Array): number {
    const before = this.batches;
    for (const loss of losses) this.epochSum += loss;
    this.epochCount += losses.length;
    this.batches += losses.length;
    this.lastBatchLoss = losses.at(-1) ?? this.lastBatchLoss;
    return before;
  }

  /** Mean loss of the batches of this epoch so far; each counts alike, whatever its size. */
  epochLoss(): number {
    return this.epochSum / this.epochCount;
  }

  endEpoch(loss: number, valLoss: number | null, rate: number): void {
    this.losses.push(loss);
    if (valLoss !== null) this.valLosses.push(valLoss);
    this.rates.push(rate);
  }
}
