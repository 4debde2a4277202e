import { Module } from '@nestjs/common';
import { AuthController } from './auth/auth.controller';
import { NodesController } from './nodes/nodes.controller';
import { PresetsController } from './presets/presets.controller';
import { DevicesController } from './system/devices.controller';
import { HealthController } from './system/health.controller';

/** The REST interface. */
@Module({
  controllers: [AuthController, DevicesController, HealthController, NodesController, PresetsController],
})
export class HttpModule {}
