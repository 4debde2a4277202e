import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath } from '@cdui/host/entry';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cdui-main-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('says what to set when the machine does not have the address', () => {
  // An address that no machine has (RFC 5737).
  const env = { ...process.env, CODEFYUI_HOST: '203.0.113.1', CODEFYUI_PORT: '0', CODEFYUI_USER_DATA_DIR: folder };
  const server = spawnSync(process.execPath, [entryPath('apps/control-plane/main')], {
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(server.status).toBe(1);
  expect(server.stderr).toContain('This machine has no address 203.0.113.1: set CODEFYUI_HOST');
  expect(server.stderr).not.toContain('EADDRNOTAVAIL');
});

it.each(['a file of another program', 'a folder'])('leaves nothing beside %s that is no database', (what) => {
  const place = join(folder, 'theirs', 'notes');
  mkdirSync(what === 'a folder' ? place : join(folder, 'theirs'), { recursive: true });
  if (what !== 'a folder') writeFileSync(place, 'dear diary '.repeat(1000));
  const env = {
    ...process.env,
    CODEFYUI_PORT: '0',
    CODEFYUI_USER_DATA_DIR: join(folder, 'user'),
    CODEFYUI_DB_PATH: place,
  };
  const server = spawnSync(process.execPath, [entryPath('apps/control-plane/main')], {
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect([server.status, server.stderr]).toEqual([1, expect.stringContaining('CODEFYUI_DB_PATH') as string]);
  expect(readdirSync(join(folder, 'theirs'))).toEqual(['notes']);
});
