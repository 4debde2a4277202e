import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programRoot } from '@cdui/host/entry';
import { TestServer } from '../testing/test-server';

let server: TestServer;
beforeAll(async () => void (server = await TestServer.start()));
afterAll(() => server.close());

it('serves the document of the repository', async () => {
  const { status, headers, text } = await server.get('/openapi.json');
  expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(text).toBe(readFileSync(join(programRoot(), 'libs/api-client/openapi.json'), 'utf8'));
});

it('shows it on a page that takes everything from this server', async () => {
  const { status, headers, text } = await server.get('/docs');
  expect(status).toBe(200);
  expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
  const links = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1]!);
  expect(links).toHaveLength(4);
  for (const link of links) {
    expect(link).toMatch(/^\/docs\//);
    expect((await server.get(link)).status).toBe(200);
  }
  expect(text).not.toMatch(/<script(?! src=)|<style|\son\w+=|https?:/);
});
