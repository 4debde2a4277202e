import type { Database } from './database';
import { insertRuns } from './sql/sqlite';
import type { SqlValue } from './sqlite/connection';
import { endsTransaction, storageFailure } from './sqlite/failures';
import type { Transaction } from './writer';

/** Rows of one statement. Each number of rows is a statement of its own, which stays prepared. */
const MOST_ROWS = 16;

interface Row {
  readonly values: readonly SqlValue[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Rows that were asked for one after the other, without another write between them. */
interface Batch {
  readonly rows: Row[];
  /** How many writes had been asked for when this one was. */
  place: number;
  /** Takes no more rows. */
  begun: boolean;
}

/**
 * Inserts rows of runs. Those that come one after the other while an earlier write waits for its commit go into one statement: when many submit
 * at once, a statement for each would cost each a trip to another thread and back. One that cannot be stored takes no other down, and none
 * overtakes another write or is overtaken.
 */
export class RunInserts {
  private last: Batch | null = null;

  constructor(private readonly database: Pick<Database, 'write' | 'writes' | 'file'>) {}

  /** Durable when it resolves. @param values of the columns of `insertRuns` */
  insert(values: readonly SqlValue[]): Promise<void> {
    return new Promise((resolve, reject) => this.batch().rows.push({ values, resolve, reject }));
  }

  /** The one that was asked for last, when nothing else was since. */
  private batch(): Batch {
    const { last, database } = this;
    const joins = last && !last.begun && last.rows.length < MOST_ROWS && last.place === database.writes;
    if (joins) return last;
    const batch: Batch = { rows: [], place: 0, begun: false };
    this.last = batch;
    void this.write(batch);
    batch.place = database.writes;
    return batch;
  }

  private async write(batch: Batch): Promise<void> {
    const { rows } = batch;
    let refused: ReadonlyMap<Row, unknown> = new Map();
    try {
      await this.database.write(async (tx) => {
        batch.begun = true;
        refused = await insertRows(tx, rows);
      });
    } catch (error) {
      const begun = batch.begun;
      batch.begun = true;
      // Together they may have been too large for the disk.
      if (begun && rows.length > 1) for (const row of rows) this.writeAlone(row);
      else for (const { reject } of rows) reject(error);
      return;
    }
    for (const row of rows) {
      if (refused.has(row)) row.reject(storageFailure(refused.get(row), this.database.file));
      else row.resolve();
    }
  }

  private writeAlone({ values, resolve, reject }: Row): void {
    this.database.write(async (tx) => void (await tx.run(insertRuns(1), values))).then(resolve, reject);
  }
}

/** @returns the rows that could not be stored, and why; the others are */
async function insertRows(tx: Transaction, rows: readonly Row[]): Promise<ReadonlyMap<Row, unknown>> {
  const together = await attempt(tx, rows);
  if (together === null) return new Map();
  // SQLite has undone the statement, and nothing else: each at its place, by itself.
  const refused = new Map<Row, unknown>();
  for (const row of rows) {
    const error = rows.length === 1 ? together : await attempt(tx, [row]);
    if (error !== null) refused.set(row, error);
  }
  return refused;
}

/** @returns why the rows could not be stored; null when they are */
async function attempt(tx: Transaction, rows: readonly Row[]): Promise<unknown> {
  try {
    await tx.run(
      insertRuns(rows.length),
      rows.flatMap(({ values }) => values),
    );
    return null;
  } catch (error) {
    if (endsTransaction(error)) throw error;
    return error;
  }
}
