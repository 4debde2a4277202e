import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processStart } from '@cdui/host/process-start';
import { serverFolders } from '../server/data-folder';
import { findPlace } from './place';

describe('findPlace', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cdui-place-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const env = (more: Record<string, string> = {}) => ({ CODEFYUI_USER_DATA_DIR: folder, ...more });

  function server(port: number, pid = process.pid, token = `token-${port}`): void {
    mkdirSync(folder, { recursive: true });
    const address = { url: `http://127.0.0.1:${port}`, host: '127.0.0.1', port, pid, boot_id: 'b', version: '1' };
    writeFileSync(join(folder, 'server.addr'), JSON.stringify(address));
    writeFileSync(join(folder, 'session.token'), `${token}\n`);
    writeFileSync(join(folder, 'server.lock'), JSON.stringify({ pid, started: processStart(pid), url: address.url }));
  }

  it('takes the address that the server left, and its token', () => {
    server(4711);
    expect(findPlace({}, env())).toMatchObject({ url: 'http://127.0.0.1:4711', token: 'token-4711', guessed: false });
    server(4712);
    expect(findPlace({}, env())).toMatchObject({ url: 'http://127.0.0.1:4712', token: 'token-4712' });
  });

  it('does not follow the address of a server that is gone, where somebody else may answer by now', () => {
    server(4711);
    // Killed, and its number is another process's since.
    writeFileSync(join(folder, 'server.lock'), JSON.stringify({ pid: process.pid, started: 'before', url: null }));
    expect(findPlace({}, env())).toMatchObject({ stale: true, guessed: true, folder });
    // Another server has the folder, and does not answer yet.
    writeFileSync(join(folder, 'server.lock'), JSON.stringify({ pid: process.ppid, started: null, url: null }));
    expect(findPlace({}, env())).toMatchObject({ stale: true });
    expect(findPlace({ port: 4711 }, env())).toMatchObject({ url: 'http://127.0.0.1:4711', stale: false });
  });

  it('lets the command line name another', () => {
    server(4711);
    expect(findPlace({ port: 9 }, env())).toMatchObject({ url: 'http://127.0.0.1:9', token: 'token-4711' });
    expect(findPlace({ host: '::1' }, env({ CODEFYUI_PORT: '81' }))).toMatchObject({ url: 'http://[::1]:81' });
    expect(findPlace({ host: 'box', port: 9 }, env())).toMatchObject({ url: 'http://box:9' });
  });

  it('guesses the default address where there is nothing, and says that it does', () => {
    expect(findPlace({}, env())).toMatchObject({ url: 'http://127.0.0.1:8000', token: null, guessed: true });
    expect(findPlace({}, env({ CODEFYUI_PORT: '81' })).url).toBe('http://127.0.0.1:81');
    writeFileSync(join(folder, 'server.addr'), 'half a f');
    expect(findPlace({}, env()).guessed).toBe(true);
  });

  it('looks in the folder that was named and no other, else in the user’s own and then in the clone', () => {
    expect(serverFolders(env())).toEqual([folder]);
    expect(serverFolders({}, '/clone')).toEqual([expect.stringMatching(/\.codefyui$/), '/clone/.codefyui']);
  });
});
