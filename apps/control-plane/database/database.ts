import type { CodedError } from '@cdui/protocol';
import { prepareDatabase } from './schema/prepare';
import { Readers } from './readers';
import { PURGES } from './sql/sqlite';
import type { Row, SqlValue } from './sqlite/connection';
import { storageFailure } from './sqlite/failures';
import { type Write, Writer, type WriterOptions } from './writer';

/** Rows of a deleted run that one write removes: a few milliseconds, so that other writes get their turn. */
const PURGE_ROWS = 2000;

/** The server's database: one writer, and readers beside it. */
export class Database {
  private purging: Promise<void> | null = null;
  private purgeWanted = false;
  private closing: Promise<void> | null = null;

  private constructor(
    readonly file: string,
    private readonly writer: Writer,
    private readonly readers: Readers,
  ) {}

  /**
   * Opens the file, and creates or migrates it before.
   *
   * @param program the version of this program
   * @throws CodedError `database_newer`, `database_foreign`, `storage_failed`
   */
  static async open(file: string, program: string, options: WriterOptions = {}): Promise<Database> {
    await prepareDatabase(file, program);
    const writer = await Writer.open(file, options);
    try {
      const database = new Database(file, writer, await Readers.open(file));
      // What a deletion before the last stop left over.
      database.purge();
      return database;
    } catch (error) {
      await writer.close();
      throw storageFailure(error, file);
    }
  }

  /** Why the last write was not stored; null while writes are. */
  get failure(): CodedError | null {
    return this.writer.failure;
  }

  /** How many writes were asked for so far. */
  get writes(): number {
    return this.writer.writes;
  }

  /** Durable when it resolves; see `Writer`. */
  write<T>(work: Write<T>): Promise<T> {
    return this.writer.write(work);
  }

  /** Reads what is committed. @throws CodedError `storage_failed` */
  all<R extends object = Row>(sql: string, values?: readonly SqlValue[]): Promise<R[]> {
    return this.readers.all<R>(sql, values);
  }

  /** Begins to remove what is stored of deleted runs. It goes on at the next start if it cannot end. */
  purge(): void {
    this.purgeWanted = true;
    this.purging ??= this.purgeAll()
      // A full disk, or a closed database: the rows stay listed for the next time.
      .catch(() => undefined)
      .finally(() => (this.purging = null));
  }

  /** Resolves when nothing waits to be written or removed. */
  async idle(): Promise<void> {
    while (this.purging) await this.purging;
    await this.writer.idle();
  }

  /** Commits what waits and closes the file, its log emptied into it. A second call waits for the first. */
  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async closeAll(): Promise<void> {
    await this.readers.close();
    await this.writer.close();
  }

  private async purgeAll(): Promise<void> {
    while (this.purgeWanted) {
      this.purgeWanted = false;
      for (let run = await this.nextPurge(); run !== null; run = await this.nextPurge()) await this.purgeRun(run);
    }
  }

  private async nextPurge(): Promise<string | null> {
    const [next] = await this.all<{ run_id: string }>(PURGES.next);
    return this.closing ? null : (next?.run_id ?? null);
  }

  private async purgeRun(runId: string): Promise<void> {
    for (const slice of PURGES.slices) {
      let removed: number;
      do {
        removed = await this.write((tx) => tx.run(slice, [runId, PURGE_ROWS]));
      } while (removed >= PURGE_ROWS);
    }
    await this.write((tx) => tx.run(PURGES.done, [runId]));
  }
}
