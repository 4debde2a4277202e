import type { Request, RequestHandler, Response } from 'express';
import { CodedError } from '@cdui/protocol';
import { refuseBody } from '../auth/request-guards';
import { RequestShapeError } from './error.filter';

/** Deeper than any graph file; far less than what exhausts the stack of code that walks a value. */
export const MAX_JSON_DEPTH = 200;

/**
 * Reads JSON bodies into `request.body`. Counts what arrives, so that a chunked body is bounded like one that states its length, and
 * refuses what no handler should have to think about: other encodings, invalid UTF-8, and nesting that no recursion survives.
 */
export function jsonBody(maxBytes: number): RequestHandler {
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
        request.body = parse(bytes);
        next();
      } catch (error) {
        next(error);
      }
    });
  };
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function read(request: Request, response: Response, maxBytes: number, done: (bytes: Buffer) => void): void {
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
  const end = (): void => done(Buffer.concat(chunks));
  request.on('data', take).on('end', end);
}

function parse(bytes: Buffer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new RequestShapeError([
      { loc: ['body'], msg: `The body is not JSON: ${(error as Error).message}`, type: 'json_invalid' },
    ]);
  }
  if (depthExceeds(value, MAX_JSON_DEPTH)) {
    throw new RequestShapeError([
      { loc: ['body'], msg: `The body is nested deeper than ${MAX_JSON_DEPTH} levels`, type: 'json_too_deep' },
    ]);
  }
  return value;
}

/** Whether lists and objects are nested deeper; without recursion. */
export function depthExceeds(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      for (const member of Object.values(item)) if (typeof member === 'object' && member !== null) next.push(member);
    }
    level = next;
  }
  return false;
}
