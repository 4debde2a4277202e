import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { programRoot } from '@cdui/host/entry';
import type { Express, Response } from 'express';

/** Only what this server serves itself; Swagger UI sets styles from its own program. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>CodefyUI control plane: REST interface</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" href="/docs/favicon-32x32.png" />
  </head>
  <body>
    <main id="interface"><noscript>This page needs JavaScript; the document itself is at /openapi.json.</noscript></main>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** Requests that are tried out carry the session token of this server, asked for anew each time. */
const START = `window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#interface',
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor: async (request) => {
    if (!request.method || request.method === 'GET') return request;
    const answer = await fetch('/api/auth/bootstrap');
    request.headers['X-CodefyUI-Token'] = (await answer.json()).token;
    return request;
  },
});
`;

/** Files of the package that the page uses, and what they are. */
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** The OpenAPI document, as it lies in the repository, and a page that shows it to people without help from anywhere else. */
export function servePages(express: Express): void {
  const ui = dirname(require.resolve('swagger-ui-dist/package.json'));
  express.get('/openapi.json', (_request, response, next) => {
    send(response, 'application/json; charset=utf-8', join(programRoot(), 'libs/api-client/openapi.json')).catch(next);
  });
  express.get('/docs', (_request, response) => {
    response.set('Content-Security-Policy', POLICY).type('text/html; charset=utf-8').send(PAGE);
  });
  express.get('/docs/start.js', (_request, response) => {
    response.type('text/javascript; charset=utf-8').send(START);
  });
  for (const [name, type] of Object.entries(FILES)) {
    express.get(`/docs/${name}`, (_request, response, next) => {
      response.set('Cache-Control', 'public, max-age=86400');
      send(response, type, join(ui, name)).catch(next);
    });
  }
}

async function send(response: Response, type: string, file: string): Promise<void> {
  const content = await readFile(file);
  response.type(type).send(content);
}
