import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { withLock } from '../scripts/lib/lock.mjs';
import { finished } from './testing/project';

const MODULE = resolve(__dirname, '../scripts/lib/lock.mjs');

describe('lock', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cdui-lock-'));
    path = join(folder, 'some.lock');
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is held during the work and free after it, also after a failure', async () => {
    expect(await withLock(path, async () => existsSync(path))).toBe(true);
    await expect(withLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(existsSync(path)).toBe(false);
  });

  it('makes others wait and tells them for whom', async () => {
    const order: string[] = [];
    let finishFirst = (): void => {};
    const first = withLock(path, () => new Promise<void>((done) => (finishFirst = done)));
    let second: Promise<unknown> = Promise.resolve();
    const waitsFor = await new Promise<number>((told) => {
      second = withLock(path, async () => void order.push('second'), { onWait: told, pollMs: 1 });
    });
    expect(waitsFor).toBe(process.pid);
    order.push('first');
    finishFirst();
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'second']);
  });

  it('is taken over from a process that died holding it', async () => {
    const script = `import(${JSON.stringify(MODULE)}).then(({ withLock }) => withLock(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL')))`;
    await finished(spawn(process.execPath, ['-e', script]));
    expect(existsSync(path)).toBe(true);
    expect(await withLock(path, async () => 'mine', { pollMs: 1 })).toBe('mine');
  });

  it('is taken over from a dead process that its parent has not noticed', async () => {
    const script = `import(${JSON.stringify(MODULE)}).then(({ withLock }) => withLock(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL')))`;
    // The shell starts the holder and becomes a program that never asks after its children.
    const parent = spawn('sh', ['-c', '"$0" -e "$1" & exec sleep 60', process.execPath, script]);
    const end = finished(parent);
    try {
      while (!existsSync(path)) {
        await nextTurn();
      }
      expect(await withLock(path, async () => 'mine', { pollMs: 1 })).toBe('mine');
    } finally {
      parent.kill();
      await end;
    }
  });

  it('is taken over when the holder is another process by now, or its file is broken', async () => {
    writeFileSync(path, JSON.stringify({ pid: process.pid, started: 'at another time' }));
    expect(await withLock(path, async () => 'mine', { pollMs: 1 })).toBe('mine');
    writeFileSync(path, '{');
    expect(await withLock(path, async () => 'mine', { pollMs: 1 })).toBe('mine');
  });

  it('lets one process in at a time', async () => {
    const log = join(folder, 'log');
    const script = `import { appendFileSync } from 'node:fs';
      const { withLock } = await import(${JSON.stringify(MODULE)});
      for (let i = 0; i < 30; i++) {
        await withLock(${JSON.stringify(path)}, async () => {
          appendFileSync(${JSON.stringify(log)}, '(');
          await new Promise((done) => setImmediate(done));
          appendFileSync(${JSON.stringify(log)}, ')');
        }, { pollMs: 1 });
      }`;
    const ends = await Promise.all(
      [1, 2, 3].map(() => finished(spawn(process.execPath, ['--input-type=module', '-e', script]))),
    );
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(readFileSync(log, 'utf8')).toBe('()'.repeat(90));
  });
});
