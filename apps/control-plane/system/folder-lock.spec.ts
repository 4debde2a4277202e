import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeFolders } from './folder-lock';

describe('takeFolders', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cdui-folder-lock-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const settings = (name: string, dbPath?: string) => ({
    userDataDir: join(folder, name),
    dbPath: dbPath ?? join(folder, name, 'data', 'codefyui.db'),
  });

  it('refuses a second server on a folder with one sentence that names the first', async () => {
    const first = await takeFolders(settings('a'));
    await expect(takeFolders(settings('a'))).rejects.toMatchObject({
      code: 'already_running',
      message: expect.stringMatching(
        new RegExp(`^Another server \\(process ${process.pid}, not answering yet\\) runs on ${folder}/a: stop it`),
      ) as string,
    });
    first.announce('http://127.0.0.1:8000');
    await expect(takeFolders(settings('a'))).rejects.toMatchObject({
      message: expect.stringContaining('http://127.0.0.1:8000') as string,
      params: { pid: process.pid, url: 'http://127.0.0.1:8000', path: join(folder, 'a') },
    });
    (await takeFolders(settings('b'))).release();
    first.release();
    (await takeFolders(settings('a'))).release();
  });

  it('refuses a database that a server of another folder uses, and leaves its own folder free again', async () => {
    const shared = join(folder, 'shared.db');
    const first = await takeFolders(settings('a', shared));
    await expect(takeFolders(settings('b', shared))).rejects.toMatchObject({
      code: 'already_running',
      message: expect.stringMatching(/shared\.db: stop it .*CODEFYUI_DB_PATH/) as string,
    });
    (await takeFolders(settings('b'))).release();
    first.release();
    (await takeFolders(settings('b', shared))).release();
  });
});
