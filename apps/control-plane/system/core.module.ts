import type { Worker } from 'node:worker_threads';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { SessionToken } from '../auth/session-token';
import { CatalogClient } from '../catalog-thread/catalog.client';
import { SETTINGS, type Settings } from '../config/settings';
import { CLOCK, IDS } from '../tokens';
import { Boot } from './boot';
import { ServerAddress } from './server-address';
import { systemClock, systemIds } from './world';

/** What every part of the server may ask for: its settings, the world outside, this start, and the catalogue. */
@Global()
@Module({})
export class CoreModule {
  /** @param catalogThread see `CatalogClient` */
  static with(settings: Settings, catalogThread?: Worker): DynamicModule {
    return {
      module: CoreModule,
      providers: [
        { provide: SETTINGS, useValue: settings },
        { provide: CLOCK, useValue: systemClock },
        { provide: IDS, useValue: systemIds },
        { provide: SessionToken, useFactory: () => new SessionToken() },
        Boot,
        { provide: CatalogClient, useFactory: () => new CatalogClient(settings, catalogThread) },
        ServerAddress,
      ],
      exports: [SETTINGS, CLOCK, IDS, SessionToken, Boot, CatalogClient, ServerAddress],
    };
  }
}
