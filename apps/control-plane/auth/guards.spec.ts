import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Answer, TestServer } from '../testing/test-server';
import { SessionToken } from './session-token';

const LIMIT = 4096;
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({
    CODEFYUI_MAX_RUN_BODY_BYTES: String(LIMIT),
    CODEFYUI_CORS_ORIGINS: 'http://console.example:5173',
  });
});
afterAll(() => server.close());

const codeOf = ({ json }: Answer): unknown => (json as { detail: { code: string } }).detail.code;

describe('the guards', () => {
  it('refuse host, then token, then size, before anything is read', async () => {
    const raw = 'x'.repeat(LIMIT + 1);
    const wrongHost = { host: 'evil.example' };
    expect(await server.send('POST', '/api/graph/validate', { raw, token: false, headers: wrongHost })).toMatchObject({
      status: 421,
      json: { detail: expect.stringContaining('evil.example') as string },
    });
    expect(await server.send('POST', '/api/graph/validate', { raw, token: false })).toMatchObject({
      status: 403,
      json: { detail: 'Missing or invalid X-CodefyUI-Token header' },
    });
    expect(await server.send('POST', '/api/graph/validate', { raw })).toMatchObject({
      status: 413,
      json: { detail: expect.stringContaining('CODEFYUI_MAX_RUN_BODY_BYTES') as string },
    });
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('want the token for %s, whatever the path looks like', async (method) => {
    for (const path of ['/api/runs', '/API/runs', '//api//runs', '/api/%72uns', '/nowhere']) {
      expect((await server.send(method, path, { token: false })).status).toBe(403);
      expect((await server.send(method, path, { headers: { 'x-codefyui-token': 'wrong' } })).status).toBe(403);
    }
  });

  it('bound a body that does not say how large it is', async () => {
    const body = JSON.stringify({ graph: 'x'.repeat(LIMIT) });
    const answer = await exchange(
      `POST /api/graph/validate HTTP/1.1\r\nHost: ${host()}\r\nX-CodefyUI-Token: ${server.token}\r\n` +
        `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('answer a client that asks before it sends a body, with the refusal or with go on', async () => {
    const ask = (token: string): string =>
      `POST /api/nowhere HTTP/1.1\r\nHost: ${host()}\r\nX-CodefyUI-Token: ${token}\r\nExpect: 100-continue\r\n` +
      `Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n`;
    expect(await exchange(ask('wrong'))).toMatch(/^HTTP\/1\.1 403 /);
    expect(await exchange(ask(server.token), '{}')).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 404 /);
  });

  it('give the token to pages of this host and of listed origins only', async () => {
    const ask = (origin?: string): Promise<Answer> =>
      server.get('/api/auth/bootstrap', { token: false, headers: origin === undefined ? {} : { origin } });
    for (const origin of [undefined, `http://${host()}`, 'http://console.example:5173']) {
      expect(await ask(origin)).toMatchObject({ status: 200, json: { token: server.token } });
    }
    for (const origin of ['null', 'http://evil.example', `http://${host()}.evil.example`]) {
      const { status, text } = await ask(origin);
      expect([status, text.includes(server.token)]).toEqual([403, false]);
    }
  });

  it('let pages of listed origins in, and no others', async () => {
    const preflight = (origin: string): Promise<Answer> =>
      server.send('OPTIONS', '/api/runs', {
        token: false,
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'X-CodefyUI-Token',
        },
      });
    expect((await preflight('http://console.example:5173')).headers).toMatchObject({
      'access-control-allow-origin': 'http://console.example:5173',
      'access-control-allow-methods': 'GET,POST,PUT,DELETE',
      'access-control-allow-headers': 'Content-Type,X-CodefyUI-Token,Authorization',
    });
    const { headers } = await preflight('http://evil.example');
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });
});

describe('bodies', () => {
  const send = (raw: string | Buffer, headers = {}): Promise<Answer> =>
    server.send('POST', '/api/nowhere', { raw, headers });
  const problem = {
    detail: [{ loc: ['body'], msg: expect.any(String) as string, type: expect.any(String) as string }],
  };

  it.each([
    ['no JSON', '{"graph": '],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22])],
    ['nesting beyond reason', `${'['.repeat(201)}${']'.repeat(201)}`],
    ['a prototype', '{"graph": {"__proto__": {"admin": true}}}'],
    ['a prototype in disguise', '{"graph": [{"\\u005f_proto_\\u005F": 1}]}'],
  ])('are refused with %s', async (_, raw) => {
    expect(await send(raw)).toMatchObject({ status: 422, json: problem });
  });

  it('may be nested as deep as graphs are, and hold brackets in texts', async () => {
    expect((await send(`${'['.repeat(200)}"${'['.repeat(300)}\\"{"${']'.repeat(200)}`)).status).toBe(404);
  });

  it.each([
    ['text/plain', 'identity'],
    ['application/json', 'gzip'],
  ])('are refused as %s in %s', async (type, encoding) => {
    const answer = await send('{}', { 'content-type': type, 'content-encoding': encoding });
    expect([answer.status, codeOf(answer)]).toEqual([415, 'unsupported_media_type']);
  });
});

describe('the session token', () => {
  it('lies in a file of its owner, new at each start', () => {
    const file = join(server.folder, 'session.token');
    expect(readFileSync(file, 'utf8')).toBe(server.token);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(Buffer.from(server.token, 'base64url')).toHaveLength(32);
    expect(new SessionToken().value).not.toBe(new SessionToken().value);
  });

  it('matches itself only', () => {
    const token = new SessionToken('abc');
    expect([token.matches('abc'), token.matches('abd'), token.matches(''), token.matches(['abc'])]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

const host = (): string => new URL(server.url).host;

/** Writes to a bare socket, the second part when the first was answered, and returns all that came back. */
function exchange(first: string, second?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(first));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (text.startsWith('HTTP/1.1 100') && second !== undefined && text.length < 40) socket.write(second);
      else if (!text.startsWith('HTTP/1.1 100')) socket.end();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}
