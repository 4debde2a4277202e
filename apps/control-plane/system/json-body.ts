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
  // Before parsing: what is built for a body of brackets alone takes many times its size.
  if (depthExceeds(bytes, MAX_JSON_DEPTH)) {
    throw refusal(`The body is nested deeper than ${MAX_JSON_DEPTH} levels`, 'json_too_deep');
  }
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw refusal(`The body is not JSON in UTF-8: ${(error as Error).message}`, 'json_invalid');
  }
  if (/__proto__|\\u005f/i.test(text) && namesPrototype(value)) {
    throw refusal('The body has a member "__proto__", which nothing here is called', 'json_prototype');
  }
  return value;
}

function refusal(msg: string, type: string): RequestShapeError {
  return new RequestShapeError([{ loc: ['body'], msg, type }]);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether lists and objects are nested deeper in JSON text, be it well formed or not. */
export function depthExceeds(json: Uint8Array, limit: number): boolean {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index]!;
    if (inText) {
      if (byte === BACKSLASH) index++;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    // "[" and "{", "]" and "}" differ in one bit.
    else if ((byte | 0x20) === 0x7b) {
      if (++depth > limit) return true;
    } else if ((byte | 0x20) === 0x7d) depth--;
  }
  return false;
}

/** Whether an object says what its prototype is: copied member by member into another, it would become that one's. */
function namesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(namesPrototype);
}
