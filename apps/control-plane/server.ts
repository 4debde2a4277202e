import type { AddressInfo } from 'node:net';
import type { Worker } from 'node:worker_threads';
import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { InProcessExecutor } from '@cdui/run-host/client';
import { AppModule } from './app.module';
import { bodyGuard, continueGuard, corsOptions, hostGuard, securityHeaders, tokenGuard } from './auth/request-guards';
import { SessionToken } from './auth/session-token';
import type { Settings } from './config/settings';
import { servePages } from './openapi/pages';
import { Doors } from './system/doors';
import { ErrorFilter } from './system/error.filter';
import { jsonBody } from './system/json-body';
import { frameworkLog, processLog, requestLog } from './system/logging.module';
import { ServerAddress } from './system/server-address';
import { isSubmission } from './runs-api/runs.controller';
import { queryValidation } from './system/validation.pipe';
import { EXECUTOR } from './tokens';

/** A listening server and the address it has. */
export interface RunningServer {
  readonly app: INestApplication;
  readonly url: string;
}

/** Starts the control plane; resolves when it answers requests. */
export async function startServer(settings: Settings): Promise<RunningServer> {
  return listen(await createApp(settings), settings);
}

/** Lets what was made answer requests. */
export async function listen(app: NestExpressApplication, settings: Settings): Promise<RunningServer> {
  const address = app.get(ServerAddress);
  const server: Server = app.getHttpServer();
  // The names it answers for are known before the first connection is.
  server.once('listening', () => address.listensOn((server.address() as AddressInfo).port));
  // Node would tell a client that asks first to go on, before any guard has looked at the request.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  app.get(Doors).open(server);
  try {
    await app.listen(settings.port, settings.host);
    await app.get(SessionToken).write(settings.userDataDir);
  } catch (error) {
    // Threads and the database are there already; without this the process would stay, and answer nobody.
    await app.close();
    throw error;
  }
  // Not before it answers: threads that load take the processor from the one that starts.
  app.get<InProcessExecutor>(EXECUTOR).prepare();
  return { app, url: address.url };
}

/** Everything but the listening: guards in their order, the reader of bodies, the shape of errors. */
export async function createApp(settings: Settings, catalogThread?: Worker): Promise<NestExpressApplication> {
  const log = processLog(settings);
  const app = await NestFactory.create<NestExpressApplication>(AppModule.with(settings, log, catalogThread), {
    logger: frameworkLog(log),
    bodyParser: false,
    abortOnError: false,
  });
  const address = app.get(ServerAddress);
  const allowlist = (): ServerAddress['allowlist'] => address.allowlist;
  app.disable('x-powered-by');
  app.setGlobalPrefix('api', { exclude: ['metrics'] });
  app.set('etag', false);
  app.use(requestLog(log), securityHeaders, hostGuard(allowlist));
  app.enableCors(corsOptions(settings.corsOrigins));
  app.use(tokenGuard(app.get(SessionToken), allowlist));
  const maxBody = settings.maxRunBodyBytes;
  app.use(bodyGuard(maxBody), continueGuard, jsonBody(maxBody, isSubmission));
  servePages(app.getHttpAdapter().getInstance());
  app.useGlobalPipes(queryValidation());
  app.useGlobalFilters(new ErrorFilter());
  return app;
}
