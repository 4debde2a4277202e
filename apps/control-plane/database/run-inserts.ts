import type { Database } from './database';
import { insertRuns } from './sql/sqlite';
import type { SqlValue } from './sqlite/connection';

/** Rows of one statement. Each number of rows is a statement of its own, which stays prepared. */
const MOST_ROWS = 16;

interface Waiting {
  readonly values: readonly SqlValue[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Inserts rows of runs. Those that come while an earlier one waits for its commit go into its statement: when many submit at once, a statement
 * for each would cost each a trip to another thread and back. One that cannot be stored takes no other down.
 */
export class RunInserts {
  /** Rows that no statement has taken yet. */
  private waiting: Waiting[] = [];
  private asked = false;

  constructor(private readonly database: Pick<Database, 'write'>) {}

  /** Durable when it resolves. @param values of the columns of `insertRuns` */
  insert(values: readonly SqlValue[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ values, resolve, reject });
      this.ask();
    });
  }

  private ask(): void {
    if (this.asked || this.waiting.length === 0) return;
    this.asked = true;
    void this.write();
  }

  private async write(): Promise<void> {
    const taken: Waiting[] = [];
    try {
      await this.database.write(async (tx) => {
        // A second attempt is about the same rows.
        if (taken.length === 0) taken.push(...this.take(MOST_ROWS));
        await tx.run(
          insertRuns(taken.length),
          taken.flatMap(({ values }) => values),
        );
      });
    } catch (error) {
      // Not even begun: nothing that waits can be stored now.
      if (taken.length === 0) for (const { reject } of this.take(Infinity)) reject(error);
      else if (taken.length === 1) taken[0]!.reject(error);
      else for (const row of taken) this.writeAlone(row);
      return;
    }
    for (const { resolve } of taken) resolve();
  }

  private writeAlone({ values, resolve, reject }: Waiting): void {
    this.database.write(async (tx) => void (await tx.run(insertRuns(1), values))).then(resolve, reject);
  }

  private take(most: number): readonly Waiting[] {
    const rows = this.waiting.slice(0, most);
    this.waiting = this.waiting.slice(most);
    this.asked = false;
    this.ask();
    return rows;
  }
}
