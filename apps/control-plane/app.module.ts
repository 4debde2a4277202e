import { type DynamicModule, Module } from '@nestjs/common';
import { CatalogClient } from './catalog-thread/catalog.client';
import { SETTINGS, type Settings } from './config/settings';
import { NodesController } from './nodes/nodes.controller';
import { PresetsController } from './presets/presets.controller';
import { Boot } from './system/boot';
import { HealthController } from './system/health.controller';

@Module({})
export class AppModule {
  static with(settings: Settings): DynamicModule {
    return {
      module: AppModule,
      controllers: [HealthController, NodesController, PresetsController],
      providers: [{ provide: SETTINGS, useValue: settings }, Boot, CatalogClient],
    };
  }
}
