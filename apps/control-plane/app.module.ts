import type { Worker } from 'node:worker_threads';
import { type DynamicModule, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Settings } from './config/settings';
import { DatabaseModule } from './database/database.module';
import { EventsModule } from './events/events.module';
import { HttpModule } from './http.module';
import { WorkersModule } from './workers/local/workers.module';
import { RunsModule } from './runs/local/runs.module';
import { CoreModule } from './system/core.module';
import { loggingModule } from './system/logging.module';

@Module({})
export class AppModule {
  static with(settings: Settings, log: Logger, catalogThread?: Worker): DynamicModule {
    return {
      module: AppModule,
      imports: [
        loggingModule(log),
        CoreModule.with(settings, catalogThread),
        DatabaseModule,
        EventsModule,
        WorkersModule,
        RunsModule,
        HttpModule,
      ],
    };
  }
}
