import type { LineBatch, Spool } from './world';

/** The spool of a run that never had a process: when the agent ends, nothing is lost but a refusal, and the run returns to the queue. */
export class MemorySpool implements Spool {
  private batches: LineBatch[] = [];

  append(batches: readonly LineBatch[]): Promise<void> {
    for (const { bytes, lastSeq } of batches) this.batches.push({ bytes: bytes.slice(), lastSeq });
    return Promise.resolve();
  }

  read(after: number): Promise<LineBatch> {
    const { bytes, lastSeq } = this.batches.find((batch) => batch.lastSeq > after)!;
    return Promise.resolve({ bytes: bytes.slice(), lastSeq });
  }

  acknowledged(seq: number): void {
    this.batches = this.batches.filter(({ lastSeq }) => lastSeq > seq);
  }

  remove(): Promise<void> {
    this.batches = [];
    return Promise.resolve();
  }
}
