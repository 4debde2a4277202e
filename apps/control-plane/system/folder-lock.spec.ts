import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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

  describe('refuses, in either order, the database that a server has inside its own folder', () => {
    const database = (): string => join(folder, 'a', 'data', 'codefyui.db');
    const spellings: readonly (readonly [string, () => string])[] = [
      ['by its path', database],
      ['through ..', () => `${folder}/b/../a/data/codefyui.db`],
      [
        'through a linked folder',
        () => {
          symlinkSync(join(folder, 'a'), join(folder, 'way'));
          return join(folder, 'way', 'data', 'codefyui.db');
        },
      ],
      [
        'through a link to the file',
        () => {
          writeFileSync(database(), '');
          symlinkSync(database(), join(folder, 'b', 'link.db'));
          return join(folder, 'b', 'link.db');
        },
      ],
      [
        'through a link to a file that is not there yet',
        () => {
          symlinkSync('../a/data/codefyui.db', join(folder, 'b', 'link.db'));
          return join(folder, 'b', 'link.db');
        },
      ],
    ];

    it.each(spellings)('%s', async (_how, spelled) => {
      mkdirSync(join(folder, 'a', 'data'), { recursive: true });
      mkdirSync(join(folder, 'b'));
      const [own, foreign] = [settings('a'), settings('b', spelled())];
      for (const [first, second] of [
        [own, foreign],
        [foreign, own],
      ] as const) {
        const lock = await takeFolders(first);
        await expect(takeFolders(second)).rejects.toMatchObject({ code: 'already_running' });
        lock.release();
      }
    });
  });

  it('leaves no lock file where there was none, when it is refused or discarded', async () => {
    const first = await takeFolders(settings('a', join(folder, 'x.db')));
    await expect(takeFolders(settings('b', join(folder, 'x.db')))).rejects.toMatchObject({ code: 'already_running' });
    expect(existsSync(join(folder, 'b', 'server.lock'))).toBe(false);
    first.discard();
    expect(existsSync(join(folder, 'x.db.lock'))).toBe(false);
    // A file that was there before is somebody's.
    writeFileSync(join(folder, 'x.db.lock'), '');
    (await takeFolders(settings('a', join(folder, 'x.db')))).discard();
    expect(existsSync(join(folder, 'x.db.lock'))).toBe(true);
  });

  it('names the setting of a place that cannot be used', async () => {
    writeFileSync(join(folder, 'plain'), '');
    await expect(takeFolders(settings('a', join(folder, 'plain', 'x.db')))).rejects.toMatchObject({
      code: 'folder_not_made',
      message: expect.stringMatching(
        /^CODEFYUI_DB_PATH is ".*plain\/x\.db", which cannot be used: cannot make the folder/,
      ) as string,
    });
  });
});
