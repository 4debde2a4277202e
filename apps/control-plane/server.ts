import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module';
import { HostAllowlist } from './auth/host-allowlist';
import type { Settings } from './config/settings';
import { ErrorFilter } from './system/error.filter';

interface HttpRequest {
  readonly headers: { readonly host?: string };
}

interface HttpResponse {
  status(code: number): { json(body: unknown): void };
}

/** A listening server and the address it has. */
export interface RunningServer {
  readonly app: INestApplication;
  readonly url: string;
}

/** Starts the control plane; resolves when it answers requests. */
export async function startServer(settings: Settings): Promise<RunningServer> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule.with(settings), { logger: ['error', 'warn'] });
  app.disable('x-powered-by');
  app.setGlobalPrefix('api');
  app.useGlobalFilters(new ErrorFilter());
  app.enableShutdownHooks();
  let allowlist: HostAllowlist | null = null;
  app.use((request: HttpRequest, response: HttpResponse, next: () => void) => {
    if (allowlist?.allows(request.headers.host)) return next();
    response.status(421).json({
      detail: `Misdirected Request: this server does not answer for host "${request.headers.host ?? ''}"; add it to CODEFYUI_EXTRA_ALLOWED_HOSTS`,
    });
  });
  await app.listen(settings.port, settings.host);
  const { port } = app.getHttpServer().address() as AddressInfo;
  allowlist = new HostAllowlist({ ...settings, bindHost: settings.host, port });
  return { app, url: `http://${settings.host.includes(':') ? `[${settings.host}]` : settings.host}:${port}` };
}
