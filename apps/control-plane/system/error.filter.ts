import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { CodedError } from '@cdui/protocol';

interface Response {
  status(code: number): { json(body: unknown): void };
}

/** Gives every failure the body `{detail: {code, message, details}}`; what is not the caller's fault is logged, not shown. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(ErrorFilter.name);

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    if (error instanceof HttpException) {
      const body = error.getResponse();
      const shaped = typeof body === 'object' && 'detail' in body;
      response.status(error.getStatus()).json(shaped ? body : detail(codeOf(error.getStatus()), error.message));
      return;
    }
    this.logger.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
    if (error instanceof CodedError) response.status(503).json(detail(error.code, error.message));
    else
      response
        .status(500)
        .json(detail('internal_error', 'The server failed on this request; its log has the details.'));
  }
}

function codeOf(status: number): string {
  return status === 404 ? 'not_found' : status === 405 ? 'method_not_allowed' : 'bad_request';
}

function detail(code: string, message: string): Record<string, unknown> {
  return { detail: { code, message, details: {} } };
}
