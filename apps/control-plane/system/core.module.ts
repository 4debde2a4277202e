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
  static with(settings: Settings): DynamicModule {
    return {
      module: CoreModule,
      providers: [
        { provide: SETTINGS, useValue: settings },
        { provide: CLOCK, useValue: systemClock },
        { provide: IDS, useValue: systemIds },
        { provide: SessionToken, useFactory: () => new SessionToken() },
        Boot,
        CatalogClient,
        ServerAddress,
      ],
      exports: [SETTINGS, CLOCK, IDS, SessionToken, Boot, CatalogClient, ServerAddress],
    };
  }
}
