import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { HostAllowlist } from './host-allowlist';
import { TOKEN_HEADER, type SessionToken } from './session-token';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Keeps browsers from guessing what an answer is, from showing it inside another page, and from telling other sites an address with a token in it. */
export function securityHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.set({
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
  });
  next();
}

/** Refuses requests for a name that is not this server's: 421. */
export function hostGuard(allowlist: () => HostAllowlist | null): RequestHandler {
  return (request, response, next) => {
    const { host } = request.headers;
    if (allowlist()?.allows(host)) return next();
    refuse(
      response,
      421,
      `Misdirected Request: this server does not answer for host "${host ?? ''}"; add it to CODEFYUI_EXTRA_ALLOWED_HOSTS`,
    );
  };
}

/** Pages of the listed origins may use the interface; without cookies, since there are none. */
export function corsOptions(origins: readonly string[]): CorsOptions {
  return {
    origin: [...origins],
    credentials: false,
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: ['Content-Type', 'X-CodefyUI-Token', 'Authorization'],
    exposedHeaders: ['Content-Disposition', 'Content-Range', 'Accept-Ranges'],
    maxAge: 600,
  };
}

/**
 * Refuses every request that could change something and does not carry the session token: 403. It does not look at the path, so that no
 * spelling of a path gets around it; reading needs no token, but for the token itself, which pages of other sites may not ask for.
 */
export function tokenGuard(token: SessionToken, allowlist: () => HostAllowlist | null): RequestHandler {
  return (request, response, next) => {
    if (READING.has(request.method)) {
      const { origin, host } = request.headers;
      const foreign = !allowlist()?.allowsOrigin(origin, host);
      if (foreign && /^\/api\/auth\b/i.test(request.path)) {
        return refuse(response, 403, `Pages of ${origin} may not ask for the session token; see CODEFYUI_CORS_ORIGINS`);
      }
      return next();
    }
    if (token.matches(request.headers[TOKEN_HEADER])) return next();
    refuse(response, 403, 'Missing or invalid X-CodefyUI-Token header');
  };
}

/** Refuses a body that says it is too large before a byte of it is read: 413. One that does not say is counted while it is read. */
export function bodyGuard(maxBytes: number): RequestHandler {
  return (request, response, next) => {
    if (Number(request.headers['content-length'] ?? 0) <= maxBytes) return next();
    refuseBody(request, response, maxBytes);
  };
}

/** Says that the body is too large, and reads no more of it. */
export function refuseBody(_request: Request, response: Response, maxBytes: number): void {
  response.setHeader('Connection', 'close');
  refuse(response, 413, `The body is larger than ${maxBytes} bytes (CODEFYUI_MAX_RUN_BODY_BYTES)`);
}

/** A client that asked whether to send its body (`Expect: 100-continue`) is told to, now that no guard has refused the request. */
export function continueGuard(request: Request, response: Response, next: NextFunction): void {
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
  next();
}

function refuse(response: Response, status: number, detail: string): void {
  response.status(status).json({ detail });
}
