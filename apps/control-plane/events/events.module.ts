import { join } from 'node:path';
import { type BeforeApplicationShutdown, Global, Module } from '@nestjs/common';
import type { Clock, EventStore, RunStore } from '@cdui/execution';
import { SETTINGS, type Settings } from '../config/settings';
import { DatabaseModule } from '../database/database.module';
import { CLOCK, EVENT_STORE, RUN_STORE } from '../tokens';
import { ConsoleLogs } from './console-logs';
import { EventLog } from './event-log';
import { FileConsoleLogs } from './file-console-logs';
import { StoredEventLog } from './stored-event-log';

/** The logs of runs: events in the store, console text in files. */
@Global()
@Module({
  imports: [DatabaseModule],
  providers: [
    {
      provide: ConsoleLogs,
      inject: [SETTINGS, CLOCK],
      useFactory: (settings: Settings, clock: Clock) =>
        new FileConsoleLogs(join(settings.userDataDir, 'data', 'logs'), settings.runLogMaxBytes, clock),
    },
    {
      provide: EventLog,
      inject: [RUN_STORE, EVENT_STORE, ConsoleLogs, CLOCK, SETTINGS],
      useFactory: (runs: RunStore, events: EventStore, consoles: ConsoleLogs, clock: Clock, settings: Settings) =>
        new StoredEventLog({ runs, events, consoles, clock, payloadCapBytes: settings.runEventPayloadCapBytes }),
    },
  ],
  exports: [ConsoleLogs, EventLog],
})
export class EventsModule implements BeforeApplicationShutdown {
  constructor(
    private readonly consoles: ConsoleLogs,
    private readonly log: EventLog,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    await this.log.flush();
    await this.consoles.flush();
  }
}
