import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiClient, ApiError, ConnectionError } from './client';

let server: Server;
let url: string;
let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const json = (response: ServerResponse, status: number, value: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

it('fills path and query, sends the body, and asks for the token each time', async () => {
  const seen: unknown[] = [];
  answer = (request, response, body) => {
    seen.push([request.method, request.url, request.headers['x-codefyui-token'], body]);
    json(response, 200, { run_id: 'a', runs: [] });
  };
  let token = 'first';
  const client = new ApiClient({ url: `${url}/`, token: () => token });
  await client.get('/api/runs', { query: { status: ['queued', 'running'], limit: 5 } });
  token = 'second';
  await client.get('/api/graph/load/{name}', { path: { name: 'a/b ä' } });
  await client.post('/api/runs', { body: { graph: { nodes: [] }, name: 'x' } });
  expect(seen).toEqual([
    ['GET', '/api/runs?status=queued&status=running&limit=5', 'first', ''],
    ['GET', '/api/graph/load/a%2Fb%20%C3%A4', 'second', ''],
    ['POST', '/api/runs', 'second', '{"graph":{"nodes":[]},"name":"x"}'],
  ]);
});

it.each([
  [
    404,
    { detail: { code: 'run_not_found', message: 'There is none', details: { id: 'x' } } },
    'run_not_found',
    'There is none',
  ],
  [
    422,
    { detail: [{ loc: ['body', 'graph', 'nodes'], msg: 'must be a list', type: 'invalid_body' }] },
    'invalid_body',
    'graph.nodes: must be a list',
  ],
  [
    422,
    { detail: [{ loc: ['body', 'graph', 'nodes'], msg: '"graph.nodes" must be a list', type: 'invalid_body' }] },
    'invalid_body',
    '"graph.nodes" must be a list',
  ],
  [403, { detail: 'Missing token' }, 'http_403', 'Missing token'],
  [502, 'a proxy’s page', 'http_502', 'The server answered 502'],
])('tells what a refusal with status %d says', async (status, body, code, message) => {
  answer = (_, response) => json(response, status, body);
  const error: unknown = await new ApiClient({ url }).get('/api/health').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status, code, message });
});

it('tells a server that is not there from one that refuses, and an abort from both', async () => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const nowhere = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`;
  await new Promise((resolve) => gone.close(resolve));
  const nobody = new ApiClient({ url: nowhere });
  await expect(nobody.get('/api/health')).rejects.toThrow(ConnectionError);
  await expect(nobody.get('/api/health')).rejects.toThrow(`${nowhere} does not answer: ECONNREFUSED`);
  answer = (request) => request.socket.destroy();
  await expect(new ApiClient({ url }).get('/api/health')).rejects.toThrow(ConnectionError);
  const controller = new AbortController();
  answer = () => controller.abort(new Error('enough'));
  await expect(new ApiClient({ url }).get('/api/health', { signal: controller.signal })).rejects.toThrow('enough');
});
