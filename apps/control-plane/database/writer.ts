import { performance } from 'node:perf_hooks';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError } from '@cdui/protocol';
import { Connection, type Row, type SqlValue } from './sqlite/connection';
import { endsTransaction, isBusy, storageFailure } from './sqlite/failures';

/** What a write may do. It may be run again when a commit failed: it keeps nothing outside of the database but its result. */
export interface Transaction {
  /** @returns how many rows changed */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
  all<R extends object = Row>(sql: string, values?: readonly SqlValue[]): Promise<R[]>;
}

export type Write<T> = (transaction: Transaction) => Promise<T>;

export interface WriterOptions {
  /** A group is committed when it is this old, in milliseconds. */
  readonly groupMs?: number;
  /** How long another process may hold the database before writes fail, in milliseconds. */
  readonly patienceMs?: number;
  /** How long SQLite itself waits for another process, in milliseconds; it holds a thread of the pool for that long. */
  readonly busyTimeoutMs?: number;
  /** The write-ahead log is emptied when it is larger, in bytes. */
  readonly walMaxBytes?: number;
  /** Called after each commit: how many writes it held, and its milliseconds. */
  readonly onCommit?: (writes: number, ms: number) => void;
}

/** A group is committed when it holds this many writes, or is this old: what comes later waits no longer than that for its turn. */
const GROUP_WRITES = 256;
const GROUP_MS = 8;
const BUSY_TIMEOUT_MS = 5000;
/** Between attempts while another process holds the database. SQLite's own waiting comes first. */
const BUSY_PAUSE_MS = 50;
/** The size of the log is looked at once in this many commits. */
const WAL_CHECK_COMMITS = 64;
/** How long writes are held up at most for readers that are in the log, and how often that may happen. */
const LOG_PATIENCE_MS = 50;
const LOG_PAUSE_MS = 1000;

interface Job {
  readonly work: Write<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Committed {
  readonly done: { readonly job: Job; readonly value: unknown }[];
  readonly failed: { readonly job: Job; readonly error: unknown }[];
}
type Outcome = Committed | { readonly error: unknown };

const BEGIN = 'BEGIN IMMEDIATE';

/** A write failed after it had changed something: all of its group is undone, and each done again by itself. A savepoint for each would cost more. */
class HalfDone extends Error {
  constructor(readonly why: unknown) {
    super('half done');
  }
}

/** Knows whether something was changed through it. */
class Watched implements Transaction {
  changed = false;

  constructor(private readonly connection: Connection) {}

  async run(sql: string, values?: readonly SqlValue[]): Promise<number> {
    const count = await this.connection.run(sql, values);
    // Statements that are no INSERT, UPDATE or DELETE leave the count of the one before.
    if (count > 0) this.changed = true;
    return count;
  }

  all<R extends object = Row>(sql: string, values?: readonly SqlValue[]): Promise<R[]> {
    if (!/^\s*SELECT\b/i.test(sql)) this.changed = true;
    return this.connection.all<R>(sql, values);
  }
}

/**
 * The only connection that changes the database. Writes queue up and are committed in groups, in the order of their calls; each is resolved
 * after the commit that holds it, and one that fails is rolled back alone. While another process holds the database they wait.
 */
export class Writer {
  private readonly queue: Job[] = [];
  private working: Promise<void> | null = null;
  private closed = false;
  private commits = 0;
  private asked = 0;
  private failed: CodedError | null = null;
  private nextLogCheck = 0;
  private readonly busyTimeoutMs: number;
  private readonly groupMs: number;
  private readonly patienceMs: number;
  private readonly walMaxBytes: number;
  private readonly onCommit: (writes: number, ms: number) => void;

  private constructor(
    private readonly connection: Connection,
    options: WriterOptions,
  ) {
    this.busyTimeoutMs = options.busyTimeoutMs ?? BUSY_TIMEOUT_MS;
    this.groupMs = options.groupMs ?? GROUP_MS;
    this.patienceMs = options.patienceMs ?? 60_000;
    this.walMaxBytes = options.walMaxBytes ?? 64 * 1024 * 1024;
    this.onCommit = options.onCommit ?? (() => undefined);
  }

  static async open(file: string, options: WriterOptions = {}): Promise<Writer> {
    const connection = await Connection.open(file, 'write', options.busyTimeoutMs ?? BUSY_TIMEOUT_MS);
    try {
      await connection.exec(PRAGMAS);
      return new Writer(connection, options);
    } catch (error) {
      await connection.close().catch(() => undefined);
      throw storageFailure(error, file);
    }
  }

  /**
   * Adds a write. Durable when it resolves.
   *
   * @throws what the write threw; CodedError `storage_failed` with the system's reason when the database could not take it (nothing of it is
   * stored then), `storage_closed` after `close`
   */
  write<T>(work: Write<T>): Promise<T> {
    if (this.closed) {
      return Promise.reject(new CodedError('storage_closed', 'The database is closed: the server is stopping'));
    }
    this.asked += 1;
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      this.working ??= this.workOff();
    });
  }

  /** Why the last write that was to be stored was not; null once another one was. */
  get failure(): CodedError | null {
    return this.failed;
  }

  /** How many writes were asked for so far: tells whether one was since. */
  get writes(): number {
    return this.asked;
  }

  /** Writes that wait for their commit. */
  get waiting(): number {
    return this.queue.length;
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.working) await this.working;
  }

  /** Commits what waits, empties the log into the file, and closes it. */
  async close(): Promise<void> {
    this.closed = true;
    await this.idle();
    await this.connection.exec('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => undefined);
    await this.connection.close();
  }

  private async workOff(): Promise<void> {
    // Whatever is written in this turn of the event loop goes together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    try {
      while (this.queue.length > 0) await this.commitGroup();
    } finally {
      this.working = null;
    }
  }

  private async commitGroup(): Promise<void> {
    const started = performance.now();
    try {
      await this.patiently(BEGIN);
    } catch (error) {
      // All of them waited in vain.
      for (const job of this.queue.splice(0)) job.reject(this.refusal(error));
      return;
    }
    const taken: Job[] = [];
    const outcome = await this.commit(() => {
      if (taken.length >= GROUP_WRITES || (taken.length > 0 && performance.now() - started > this.groupMs)) return null;
      const job = this.queue.shift() ?? null;
      if (job) taken.push(job);
      return job;
    });
    if ('error' in outcome) {
      if (taken.length === 1) taken[0]!.reject(this.refusal(outcome.error));
      // Each by itself, so that a write that fails half way, or is too large for the disk, takes none of the others down.
      else for (const job of taken) await this.commitAlone(job);
      return;
    }
    this.onCommit(taken.length, performance.now() - started);
    this.settle(outcome);
    await this.keepLogSmall();
  }

  private async commitAlone(job: Job): Promise<void> {
    const jobs = [job];
    try {
      await this.patiently(BEGIN);
      const outcome = await this.commit(() => jobs.shift() ?? null);
      if ('error' in outcome) throw outcome.error;
      this.settle(outcome);
    } catch (error) {
      job.reject(this.refusal(error));
    }
  }

  /** Notes that the database could take nothing; a statement that was wrong says nothing about the database. */
  private refusal(error: unknown): unknown {
    const failure = storageFailure(error, this.connection.file);
    if (endsTransaction(error) && failure instanceof CodedError) this.failed = failure;
    return failure;
  }

  /** Runs the jobs that `next` gives until it gives null, and commits them. After an error nothing of them is stored. */
  private async commit(next: () => Job | null): Promise<Outcome> {
    const outcome: Committed = { done: [], failed: [] };
    try {
      for (let job = next(); job !== null; job = next()) {
        const transaction = new Watched(this.connection);
        try {
          outcome.done.push({ job, value: await job.work(transaction) });
        } catch (error) {
          if (endsTransaction(error)) throw error;
          // SQLite undoes the statement that failed, and no more.
          if (transaction.changed) throw new HalfDone(error);
          outcome.failed.push({ job, error });
        }
      }
      await this.patiently('COMMIT');
      return outcome;
    } catch (error) {
      // SQLite may have rolled back already.
      await this.connection.exec('ROLLBACK').catch(() => undefined);
      return { error: error instanceof HalfDone ? error.why : error };
    }
  }

  private settle({ done, failed }: Committed): void {
    if (done.length > 0) this.failed = null;
    for (const { job, value } of done) job.resolve(value);
    for (const { job, error } of failed) job.reject(storageFailure(error, this.connection.file));
  }

  /** Runs it until no other process is in the way, or the patience is over. */
  private async patiently(sql: string): Promise<void> {
    const started = performance.now();
    for (;;) {
      try {
        return await this.connection.exec(sql);
      } catch (error) {
        if (!isBusy(error) || performance.now() - started > this.patienceMs) throw error;
        await sleep(BUSY_PAUSE_MS);
      }
    }
  }

  /**
   * SQLite starts the log over only when no reader is in it at the right moment. Readers here are short, so that waiting for them between two
   * groups costs little; without it, a log under steady reading would grow without end. A reader that stays (a backup) is not waited for.
   */
  private async keepLogSmall(): Promise<void> {
    this.commits += 1;
    if (this.commits % WAL_CHECK_COMMITS !== 0 || performance.now() < this.nextLogCheck) return;
    const size = await stat(`${this.connection.file}-wal`).then(
      (file) => file.size,
      () => 0,
    );
    if (size <= this.walMaxBytes) return;
    await this.connection
      .exec(`PRAGMA busy_timeout = ${LOG_PATIENCE_MS}; PRAGMA wal_checkpoint(TRUNCATE);`)
      .catch(() => undefined);
    await this.connection.exec(`PRAGMA busy_timeout = ${this.busyTimeoutMs}`);
    this.nextLogCheck = performance.now() + LOG_PAUSE_MS;
  }
}

const PRAGMAS = `
  -- Readers and the writer do not wait for each other.
  PRAGMA journal_mode = WAL;
  -- A commit is on the disk before it is acknowledged, also when the machine loses power.
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  -- Pages that go from the log into the file at a time: 8 MiB.
  PRAGMA wal_autocheckpoint = 2000;
  -- What is left of the log's file after it was started over.
  PRAGMA journal_size_limit = 16777216;
  -- Pages in memory: 32 MiB.
  PRAGMA cache_size = -32768;
  PRAGMA temp_store = MEMORY;
`;
