import type { StepColumns } from '../runtime';

export interface StepRow {
  readonly loss: number;
  readonly lr: number;
  readonly gradNorm: number;
  readonly gradNormClipped: number;
  readonly updateRatio: number;
  readonly correct: number;
  readonly count: number;
  readonly seconds: number;
}

export interface Observed {
  readonly gradNorm: boolean;
  readonly updateRatio: boolean;
  readonly accuracy: boolean;
}

/** Rows of steps since the last `take`, which turns them into columns. */
export class StepLog {
  private rows: StepRow[] = [];
  private taken = 0;

  constructor(private readonly observed: Observed) {}

  add(row: StepRow): void {
    this.rows.push(row);
  }

  take(): StepColumns {
    const { rows, observed } = this;
    const first = this.taken;
    this.rows = [];
    this.taken += rows.length;
    const floats = (name: keyof StepRow) => Float32Array.from(rows, (row) => row[name]);
    const whole = (name: keyof StepRow) => Int32Array.from(rows, (row) => row[name]);
    return {
      index: Int32Array.from(rows, (_, at) => first + at),
      loss: floats('loss'),
      lr: floats('lr'),
      ...(observed.gradNorm ? { gradNorm: floats('gradNorm'), gradNormClipped: floats('gradNormClipped') } : {}),
      ...(observed.updateRatio ? { updateRatio: floats('updateRatio') } : {}),
      ...(observed.accuracy ? { correct: whole('correct'), count: whole('count') } : {}),
      // Only mixed precision skips updates, which this runtime does not have.
      skipped: new Uint8Array(rows.length),
      seconds: rows.reduce((sum, row) => sum + row.seconds, 0),
    };
  }
}
