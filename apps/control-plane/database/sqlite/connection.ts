import { OPEN_CREATE, OPEN_FULLMUTEX, OPEN_READONLY, OPEN_READWRITE, Database, type Statement } from 'sqlite3';

export type SqlValue = string | number | null | Buffer;
export type Row = Readonly<Record<string, unknown>>;

/**
 * `write` may create the file; `query` opens for reading and writing because a reader of a WAL database keeps its place in a shared file, and is
 * held to reading by `query_only`; `read` opens the file read-only.
 */
export type OpenMode = 'write' | 'query' | 'read';

const FLAGS: Readonly<Record<OpenMode, number>> = {
  write: OPEN_READWRITE | OPEN_CREATE | OPEN_FULLMUTEX,
  query: OPEN_READWRITE | OPEN_FULLMUTEX,
  read: OPEN_READONLY | OPEN_FULLMUTEX,
};

/**
 * One SQLite connection with its prepared statements. A call is a trip to a thread of the pool and back; the caller makes one at a time, because
 * calls on one connection would only block each other's threads. Every statement runs to its end, so that none holds a snapshot open.
 */
export class Connection {
  private readonly statements = new Map<string, Promise<Statement>>();

  private constructor(
    private readonly database: Database,
    readonly file: string,
  ) {}

  static open(file: string, mode: OpenMode, busyTimeoutMs: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const database: Database = new Database(file, FLAGS[mode], (error) => {
        if (error) return reject(error);
        database.configure('busyTimeout', busyTimeoutMs);
        resolve(new Connection(database, file));
      });
    });
  }

  /** Runs any number of statements that have no parameters; stops at the first that fails. */
  exec(sql: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.database.exec(sql, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** @returns how many rows the statement changed */
  async run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    const statement = await this.prepared(sql);
    return new Promise((resolve, reject) => {
      statement.run(values, function (this: { changes: number }, error: Error | null) {
        if (error) reject(error);
        else resolve(this.changes);
      });
    });
  }

  async all<R extends object = Row>(sql: string, values: readonly SqlValue[] = []): Promise<R[]> {
    const statement = await this.prepared(sql);
    return new Promise((resolve, reject) => {
      statement.all<R>(values, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
  }

  async close(): Promise<void> {
    for (const pending of this.statements.values()) {
      const statement = await pending.catch(() => null);
      if (statement) await new Promise<void>((resolve) => statement.finalize(() => resolve()));
    }
    this.statements.clear();
    await new Promise<void>((resolve, reject) => this.database.close((error) => (error ? reject(error) : resolve())));
  }

  private prepared(sql: string): Promise<Statement> {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = new Promise<Statement>((resolve, reject) => {
        const made: Statement = this.database.prepare(sql, (error: Error | null) => {
          if (error) reject(error);
          else resolve(made);
        });
      });
      // One that could not be prepared (the file was locked) is tried anew.
      statement.catch(() => this.statements.delete(sql));
      this.statements.set(sql, statement);
    }
    return statement;
  }
}
