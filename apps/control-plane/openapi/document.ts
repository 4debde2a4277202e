import { Module, type Provider, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { SessionToken } from '../auth/session-token';
import { CatalogClient } from '../catalog-thread/catalog.client';
import { SETTINGS } from '../config/settings';
import { version } from '../config/version';
import { Database } from '../database/database';
import { ConsoleLogs } from '../events/console-logs';
import { EventLog } from '../events/event-log';
import { ExampleFolder } from '../examples/example-folder';
import { GraphFolder } from '../graphs/graph-folder';
import { GraphsService } from '../graphs/graphs.service';
import { OTHER_CONTROLLERS, RUN_CONTROLLERS } from '../http.module';
import { RunService } from '../runs/run-service';
import { Runs } from '../runs/runs';
import { WorkerRegistry } from '../workers/worker-registry';
import { RunMetricsDto } from '../runs-api/run-parts.dto';
import { Boot } from '../system/boot';
import { EVENT_STORE, RUN_STORE } from '../tokens';
import { asOpenApi31, type Document31 } from './openapi-31';

/** What the controllers ask for. Nothing of it is called: the document comes from their decorators. */
const NEEDED: readonly (symbol | Type | (abstract new () => unknown))[] = [
  SETTINGS,
  RUN_STORE,
  EVENT_STORE,
  Boot,
  CatalogClient,
  ConsoleLogs,
  // Its constructor is its own.
  Database as unknown as Type,
  EventLog,
  ExampleFolder,
  GraphFolder,
  GraphsService,
  Runs,
  RunService,
  SessionToken,
  WorkerRegistry,
];

@Module({
  controllers: [...OTHER_CONTROLLERS, ...RUN_CONTROLLERS],
  providers: NEEDED.map((provide): Provider => ({ provide: provide as symbol, useValue: {} })),
})
class DocumentedModule {}

/** Describes the REST interface as OpenAPI 3.1. It needs no database and starts nothing. */
export async function openApiDocument(): Promise<Document31> {
  const app = await NestFactory.create(DocumentedModule, { logger: false, abortOnError: false });
  app.setGlobalPrefix('api');
  const config = new DocumentBuilder()
    .setTitle('CodefyUI control plane')
    .setDescription(
      'Requests other than GET carry the session token in X-CodefyUI-Token. Refusals have a code for programs and a message for people. Members ' +
        'that this document does not know are to be ignored.',
    )
    .setVersion(version())
    .addTag('runs', 'Runs, their events, metrics, files and console logs')
    .addTag('workers', 'Agents that execute runs')
    .addTag('graphs', 'Checking and saving graphs')
    .addTag('catalogue', 'Node types and presets')
    .addTag('system')
    .addTag('auth')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-CodefyUI-Token' }, 'session')
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    extraModels: [RunMetricsDto],
    operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '').toLowerCase()}_${method}`,
  });
  await app.close();
  return asOpenApi31(document);
}
