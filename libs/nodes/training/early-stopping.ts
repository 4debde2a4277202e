/** Watches one number per epoch and says when it has not improved for a while. */
export class EarlyStopping {
  private best: number;
  private sinceBest = 0;
  private bestAt = 0;

  /**
   * @param patience epochs without improvement before it stops; 0 never stops
   * @param direction whether smaller or larger is better; only strictly better counts
   */
  constructor(
    private readonly patience: number,
    private readonly direction: 'smaller' | 'larger',
  ) {
    this.best = direction === 'smaller' ? Infinity : -Infinity;
  }

  /** Takes the value of an epoch (1-based) and tells whether it is the best so far. Not-a-number is never better. */
  observe(value: number, epoch: number): boolean {
    const better = this.direction === 'smaller' ? value < this.best : value > this.best;
    if (better) {
      this.best = value;
      this.bestAt = epoch;
      this.sinceBest = 0;
    } else {
      this.sinceBest++;
    }
    return better;
  }

  get enabled(): boolean {
    return this.patience > 0;
  }

  /** Epochs since the best one. */
  get counter(): number {
    return this.sinceBest;
  }

  /** 1-based; 0 before any epoch was better than nothing. */
  get bestEpoch(): number {
    return this.bestAt;
  }

  get exhausted(): boolean {
    return this.enabled && this.sinceBest >= this.patience;
  }
}
