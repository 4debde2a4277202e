import type { DynamicModule, LoggerService } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { LoggerModule, Logger as NestLogger, PinoLogger } from 'nestjs-pino';
import pino, { type Logger } from 'pino';
import type { Settings } from '../config/settings';
import { logStream, type LogStream } from './log-stream';

/** One for the whole process. */
let stream: LogStream | null = null;

/** Writes out what is still on its way, before the process ends. */
export function flushLog(): void {
  stream?.flush();
}

/** The log of this process. */
export function processLog({ logLevel, logJson }: Pick<Settings, 'logLevel' | 'logJson'>): Logger {
  stream ??= logStream(logJson);
  return pino({ level: logLevel, base: null, serializers: { err: describeError } }, stream);
}

/** Lets every `Logger` of the program write structured lines. Requests have lines of their own: see `requestLog`. */
export function loggingModule(logger: Logger): DynamicModule {
  return LoggerModule.forRoot({ pinoHttp: { logger, autoLogging: false }, forRoutes: [] });
}

/** Parts of the framework whose notes on its own start interest nobody who runs the server. */
const FRAMEWORK = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

/**
 * What the framework and every `Logger` of the program write to, from the first moment on: its notes on itself at level debug, and without the
 * errors that end the start, which whoever starts the server words.
 */
export function frameworkLog(log: Logger): LoggerService {
  const logger = new NestLogger(new PinoLogger({ pinoHttp: { logger: log } }), {});
  return {
    log: (message: unknown, ...rest: unknown[]) =>
      FRAMEWORK.has(String(rest.at(-1))) ? logger.debug(message, ...rest) : logger.log(message, ...rest),
    error: (message: unknown, ...rest: unknown[]) =>
      rest.at(-1) === 'ExceptionHandler' ? undefined : logger.error(message, ...rest),
    warn: (message: unknown, ...rest: unknown[]) => logger.warn(message, ...rest),
    debug: (message: unknown, ...rest: unknown[]) => logger.debug(message, ...rest),
    verbose: (message: unknown, ...rest: unknown[]) => logger.verbose(message, ...rest),
    fatal: (message: unknown, ...rest: unknown[]) => logger.fatal(message, ...rest),
  };
}

const RUN_ID = /\/runs\/([0-9a-f]{32})(?:\/|$)/i;
/** Requests that programs repeat for ever, and that say nothing when they succeed. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * A line for each request, those that a guard refuses included: its method, path, status and run. Never its query, headers or body, in which tokens
 * and secrets travel.
 */
export function requestLog(logger: Logger): (request: Request, response: Response, next: NextFunction) => void {
  return (request, response, next) => {
    const started = performance.now();
    response.once('close', () => {
      const { statusCode: status, writableFinished } = response;
      const level = status >= 500 ? 'error' : READING.has(request.method) && status < 400 ? 'debug' : 'info';
      if (!logger.isLevelEnabled(level)) return;
      const path = (request.originalUrl ?? request.url).split('?', 1)[0]!.slice(0, 300);
      // A submission learns its run's id from the answer.
      const run_id = RUN_ID.exec(path)?.[1] ?? (response.locals['run_id'] as string | undefined);
      logger[level](
        {
          context: 'http',
          method: request.method,
          path,
          status,
          ms: Math.round(performance.now() - started),
          ...(run_id !== undefined && { run_id }),
          ...(!writableFinished && { aborted: true }),
        },
        'request',
      );
    });
    next();
  };
}

/** Errors of the framework repeat the address that was asked for, with its query. */
function describeError(error: Error & { readonly code?: string }): Readonly<Record<string, unknown>> {
  const clean = (text: string): string => text.replace(/\?[^\s"')]*/g, '?…');
  const { name, message, code, stack = '' } = error;
  return { type: name, message: clean(message), ...(code !== undefined && { code }), stack: clean(stack) };
}
