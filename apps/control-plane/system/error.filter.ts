import { randomUUID } from 'node:crypto';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { CodedError } from '@cdui/protocol';
import type { Request, Response } from 'express';
import { methodsOf } from '../openapi/known-paths';
import { codeOf, statusOf } from './error-statuses';

/** One refused field of a request, in the form in which 422 answers list them. */
export interface FieldProblem {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** What is wrong with the form of a request: status 422, and each field by name. */
export class RequestShapeError extends Error {
  constructor(readonly problems: readonly FieldProblem[]) {
    super(problems.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '));
  }
}

/**
 * Gives every failure a body: 422 lists the fields, everything else is `{detail: {code, message, details}}`. A failure that is not the
 * caller's fault is logged under an id, and the answer shows no more of it than that id.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('http');

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    const { status, body, headers = {} } = this.answer(error, host.switchToHttp().getRequest<Request>());
    // A stream that broke off must not look like one that ended.
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // What a failed handler had set for its own answer.
    for (const name of ['Content-Type', 'Content-Length', 'Content-Range', 'Content-Disposition'])
      response.removeHeader(name);
    response.status(status).set(headers).json(body);
  }

  private answer(error: unknown, request: Request): Answer {
    if (error instanceof RequestShapeError) return { status: 422, body: { detail: error.problems } };
    if (error instanceof HttpException) return fromHttp(error, request);
    if (error instanceof CodedError) {
      const status = statusOf(error.code);
      if (status === 422) return { status, body: { detail: [fieldOf(error)] } };
      if (status === 503) this.logger.error({ code: error.code, msg: error.message });
      if (status !== 500) return { status, body: coded(error.code, error.message, error.params) };
    }
    const id = randomUUID();
    this.logger.error({ error_id: id, msg: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    const message = `The server failed on this request. Its log has the details under ${id}.`;
    return { status: 500, body: coded('internal_error', message, { error_id: id }) };
  }
}

function fromHttp(error: HttpException, { method, path }: Request): Answer {
  const status = error.getStatus();
  if (status !== 404) return { status, body: coded(codeOf(status), error.message) };
  // What the framework says of a path that is not there repeats its query, in which a token may be.
  const methods = methodsOf(path);
  if (methods === null) return { status, body: coded('not_found', `There is nothing at ${path}`, { path }) };
  const message = `${method} is not possible at ${path}: only ${methods.join(', ')}`;
  return {
    status: 405,
    headers: { Allow: methods.join(', ') },
    body: coded('method_not_allowed', message, { method, allowed: methods }),
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error about a field, as an item of a 422 answer. `field` is a path such as `graph.nodes.0.id`. */
function fieldOf(error: CodedError): FieldProblem {
  const field = error.params['field'];
  const path = typeof field === 'string' && field !== '' ? field.split('.') : [];
  const place = error.code === 'invalid_query' ? 'query' : 'body';
  return { loc: [place, ...path], msg: error.message, type: error.code };
}

function coded(code: string, message: string, details: Readonly<Record<string, unknown>> = {}): unknown {
  return { detail: { code, message, details } };
}
