import { Module, type Type } from '@nestjs/common';
import { AuthController } from './auth/auth.controller';
import { ExecutionSocket } from './execution-socket/execution-socket';
import { ExampleFolder } from './examples/example-folder';
import { ExamplesController } from './examples/examples.controller';
import { GraphFolder } from './graphs/graph-folder';
import { GraphsController } from './graphs/graphs.controller';
import { GraphsService } from './graphs/graphs.service';
import { NodesController } from './nodes/nodes.controller';
import { PresetsController } from './presets/presets.controller';
import { ArtifactsController } from './runs-api/artifacts.controller';
import { EventsController } from './runs-api/events.controller';
import { LogController } from './runs-api/log.controller';
import { MetricsController } from './runs-api/metrics.controller';
import { RunsController } from './runs-api/runs.controller';
import { DevicesController } from './system/devices.controller';
import { Doors } from './system/doors';
import { HealthController } from './system/health.controller';
import { WorkersController } from './workers-api/workers.controller';
import { Metrics } from './system/metrics';
import { WorkerSocket } from './workers/local/worker-socket';
import { PrometheusController } from './system/metrics.controller';

/** Controllers of routes on runs. */
export const RUN_CONTROLLERS: readonly Type[] = [
  RunsController,
  EventsController,
  MetricsController,
  ArtifactsController,
  LogController,
];

/** All others. */
export const OTHER_CONTROLLERS: readonly Type[] = [
  AuthController,
  DevicesController,
  ExamplesController,
  GraphsController,
  HealthController,
  NodesController,
  PresetsController,
  WorkersController,
];

/** The REST interface. */
@Module({
  controllers: [...OTHER_CONTROLLERS, ...RUN_CONTROLLERS, PrometheusController],
  providers: [WorkerSocket, Doors, ExampleFolder, ExecutionSocket, GraphFolder, GraphsService, Metrics],
})
export class HttpModule {}
