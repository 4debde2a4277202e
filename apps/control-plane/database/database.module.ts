import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { SETTINGS, type Settings } from '../config/settings';
import { version } from '../config/version';
import { EVENT_STORE, RUN_STORE, WORKER_STORE } from '../tokens';
import { CommitTimes } from './commit-times';
import { Database } from './database';
import { SqliteEventStore } from './sqlite-event-store';
import { SqliteRunStore } from './sqlite-run-store';
import { SqliteWorkerStore } from './sqlite-worker-store';

/** The database and the stores on it. It is closed last, when everything that writes has stopped. */
@Global()
@Module({
  providers: [
    CommitTimes,
    {
      provide: Database,
      inject: [SETTINGS, CommitTimes],
      useFactory: (settings: Settings, times: CommitTimes) =>
        Database.open(settings.dbPath, version(), { onCommit: (_writes, ms) => times.observe(ms) }),
    },
    { provide: RUN_STORE, inject: [Database], useFactory: (database: Database) => new SqliteRunStore(database) },
    { provide: WORKER_STORE, inject: [Database], useFactory: (database: Database) => new SqliteWorkerStore(database) },
    { provide: EVENT_STORE, inject: [Database], useFactory: (database: Database) => new SqliteEventStore(database) },
  ],
  exports: [CommitTimes, Database, RUN_STORE, EVENT_STORE, WORKER_STORE],
})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(Database) private readonly database: Database) {}

  onApplicationShutdown(): Promise<void> {
    return this.database.close();
  }
}
