import { randomUUID } from 'node:crypto';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { CodedError } from '@cdui/protocol';
import type { Response } from 'express';
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
    const { status, body } = this.answer(error);
    // A stream that broke off must not look like one that ended.
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // What a failed handler had set for its own answer.
    for (const name of ['Content-Type', 'Content-Length', 'Content-Range', 'Content-Disposition'])
      response.removeHeader(name);
    response.status(status).json(body);
  }

  private answer(error: unknown): { readonly status: number; readonly body: unknown } {
    if (error instanceof RequestShapeError) return { status: 422, body: { detail: error.problems } };
    if (error instanceof HttpException) return fromHttp(error);
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

function fromHttp(error: HttpException): { readonly status: number; readonly body: unknown } {
  const status = error.getStatus();
  return { status, body: coded(codeOf(status), error.message) };
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
