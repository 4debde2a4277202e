import type { Request, RequestHandler, Response } from 'express';
import { CodedError } from '@cdui/protocol';
import { refuseBody } from '../auth/request-guards';
import { RequestShapeError } from './error.filter';
import { JsonRefusal, parseJson } from './json-text';

/** A body that was left as it came, for a handler that has it parsed elsewhere. Its memory is its own. */
export class UnreadJson {
  constructor(readonly bytes: Uint8Array) {}
}

/**
 * Reads JSON bodies into `request.body`, but for those that are to be left unread. Counts what arrives, so that a chunked body is bounded like one that states its length, and
 * refuses what no handler should have to think about: other encodings, invalid UTF-8, and nesting that no recursion survives.
 */
export function jsonBody(maxBytes: number, leave: (request: Request) => boolean = () => false): RequestHandler {
  return (request, response, next) => {
    if (!hasBody(request)) return next();
    const type = (request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
    const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
    if (type !== 'application/json' || encoding !== 'identity') {
      const message = `The body must be plain application/json, not ${encoding === 'identity' ? `"${type}"` : encoding}`;
      return next(
        new CodedError('unsupported_media_type', message, { content_type: type, content_encoding: encoding }),
      );
    }
    read(request, response, maxBytes, (bytes) => {
      try {
        request.body = leave(request) ? new UnreadJson(bytes) : parseJson(bytes);
      } catch (error) {
        return next(error instanceof JsonRefusal ? shapeError(error) : error);
      }
      next();
    });
  };
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function read(request: Request, response: Response, maxBytes: number, done: (bytes: Uint8Array) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer): void => {
    size += chunk.length;
    if (size <= maxBytes) return void chunks.push(chunk);
    request.off('data', take).off('end', end);
    // What still comes is thrown away, until the connection closes behind the answer.
    request.resume();
    refuseBody(request, response, maxBytes);
  };
  const end = (): void => done(joined(chunks, size));
  request.on('data', take).on('end', end);
}

/** Not from the pool of small buffers, whose memory others share. */
function joined(chunks: readonly Buffer[], size: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const chunk of chunks) at += chunk.copy(bytes, at);
  return bytes;
}

/** What is wrong with the whole body. */
export function shapeError({ message, type }: { readonly message: string; readonly type: string }): RequestShapeError {
  return new RequestShapeError([{ loc: ['body'], msg: `The body ${message}`, type }]);
}
