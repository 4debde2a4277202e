import { type DynamicModule, Module } from '@nestjs/common';
import type { Settings } from './config/settings';
import { HttpModule } from './http.module';
import { CoreModule } from './system/core.module';

@Module({})
export class AppModule {
  static with(settings: Settings): DynamicModule {
    return { module: AppModule, imports: [CoreModule.with(settings), HttpModule] };
  }
}
