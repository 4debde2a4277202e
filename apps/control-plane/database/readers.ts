import type { CodedError } from '@cdui/protocol';
import { Connection, type Row, type SqlValue } from './sqlite/connection';
import { storageFailure } from './sqlite/failures';

/** Two, so that a long list does not hold up who follows a run. Each takes a thread of the pool while it reads. */
const READERS = 2;

/**
 * Connections that only read. They see the last commit, wait for no write, and hold up none. A read is one statement that runs to its end: whoever
 * wants much reads page by page.
 */
export class Readers {
  private readonly free: Connection[];
  private readonly waiting: ((connection: Connection) => void)[] = [];

  private constructor(private readonly connections: readonly Connection[]) {
    this.free = [...connections];
  }

  static async open(file: string, busyTimeoutMs = 5000): Promise<Readers> {
    const connections: Connection[] = [];
    for (let i = 0; i < READERS; i++) {
      const connection = await Connection.open(file, 'query', busyTimeoutMs);
      connections.push(connection);
      await connection.exec('PRAGMA query_only = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;');
    }
    return new Readers(connections);
  }

  /** @throws {CodedError} `storage_failed` */
  async all<R extends object = Row>(sql: string, values: readonly SqlValue[] = []): Promise<R[]> {
    const connection = this.free.pop() ?? (await new Promise<Connection>((resolve) => this.waiting.push(resolve)));
    try {
      return await connection.all<R>(sql, values);
    } catch (error) {
      throw storageFailure(error, connection.file);
    } finally {
      const next = this.waiting.shift();
      if (next) next(connection);
      else this.free.push(connection);
    }
  }

  /** Call it when nobody reads any more. */
  async close(): Promise<void> {
    for (const connection of this.connections) await connection.close();
  }
}

export type { CodedError };
