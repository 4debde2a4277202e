import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { entryPath } from './entry';
import { isAlive, processStart } from './process-start';
import { acquireLock, lockHolder, statedHolder } from './single-instance';

let folder: string;
let file: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cdui-lock-'));
  file = join(folder, 'data', 'server.lock');
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Another process that takes the lock, says whether it got it, and stays. `after` runs once it holds it. */
async function other(after = ''): Promise<{ readonly child: ChildProcess; readonly said: string }> {
  const script = `
    const { acquireLock } = require(process.argv[1]);
    acquireLock(process.argv[2]).then((lock) => {
      ${after}
      process.stdout.write(lock ? 'held' : 'refused');
      setInterval(() => {}, 1000);
    });`;
  const child = spawn(process.execPath, ['-e', script, entryPath('libs/host/single-instance'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, said: said.toString() };
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

it('says in words why a lock cannot be looked at', async () => {
  const plain = join(folder, 'plain');
  writeFileSync(plain, '');
  await expect(lockHolder(join(plain, 'server.lock'))).rejects.toMatchObject({
    code: 'lock_failed',
    message: `cannot lock ${join(plain, 'server.lock')}: a file is in its way`,
    params: { error: 'ENOTDIR' },
  });
});

it('asks without writing: in a folder that is read-only, and about a pipe in the place of the lock', async () => {
  const { child } = await other();
  chmodSync(file, 0o400);
  chmodSync(dirname(file), 0o500);
  // Who may do everything is not kept out by that: as another user it is asked.
  const asUser = process.getuid?.() === 0;
  if (asUser) for (const path of [folder, dirname(file), file]) chownSync(path, 65_534, 65_534);
  const script = `require(process.argv[1]).lockHolder(process.argv[2]).then((holder) => process.stdout.write(String(holder?.pid ?? null)));`;
  const ask = (path: string): string =>
    execFileSync(process.execPath, ['-e', script, entryPath('libs/host/single-instance'), path], {
      ...(asUser && { uid: 65_534, gid: 65_534 }),
      encoding: 'utf8',
      timeout: 20_000,
    });
  expect(ask(file)).toBe(String(child.pid));
  chmodSync(dirname(file), 0o700);
  const pipe = join(dirname(file), 'pipe.lock');
  execFileSync('mkfifo', [pipe]);
  if (asUser) chownSync(pipe, 65_534, 65_534);
  expect(ask(pipe)).toBe('null');
});

it('says in words that the disk is full, to one that takes a lock there', () => {
  const script = `
    const { acquireLock } = require(process.argv[1]);
    acquireLock(process.argv[2]).then(() => process.stdout.write('held'), ({ code, message }) => process.stdout.write(code + ' ' + message));`;
  const command = 'ulimit -f 0; trap "" XFSZ; exec "$0" -e "$1" "$2" "$3"';
  const args = ['-c', command, process.execPath, script, entryPath('libs/host/single-instance'), file];
  expect(execFileSync('sh', args, { encoding: 'utf8' })).toMatch(/^lock_failed cannot lock .*server\.lock: /);
});

describe('acquireLock', () => {
  it('is held by one at a time, also when each that held it removes the file', async () => {
    const script = `
      const { acquireLock } = require(process.argv[1]);
      const { rmdirSync, mkdirSync } = require('node:fs');
      (async () => {
        for (let round = 0; round < 150;) {
          const lock = await acquireLock(process.argv[2]);
          if (!lock) continue;
          mkdirSync(process.argv[2] + '.mine');
          await new Promise(setImmediate);
          rmdirSync(process.argv[2] + '.mine');
          lock.discard();
          round += 1;
        }
        process.stdout.write('never two');
      })();`;
    const said = await Promise.all(
      [1, 2, 3].map(async () => {
        const args = ['-e', script, entryPath('libs/host/single-instance'), file];
        const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
        children.push(child);
        let text = '';
        child.stdout.on('data', (chunk) => (text += String(chunk)));
        await once(child, 'close');
        return text;
      }),
    );
    expect(said).toEqual(['never two', 'never two', 'never two']);
  });

  it('is held by one, who can be asked after, until it lets go', async () => {
    expect(await lockHolder(file)).toBeNull();
    const lock = await acquireLock(file);
    expect(await acquireLock(file)).toBeNull();
    expect(await lockHolder(file)).toEqual({
      pid: process.pid,
      started: processStart(process.pid),
      url: null,
      stopping: false,
    });
    lock!.announce('http://127.0.0.1:8000');
    expect(await lockHolder(file)).toMatchObject({ pid: process.pid, url: 'http://127.0.0.1:8000' });
    expect(statedHolder(file)).toEqual(await lockHolder(file));
    lock!.leave();
    expect(await lockHolder(file)).toMatchObject({ url: 'http://127.0.0.1:8000', stopping: true });
    lock!.release();
    lock!.release();
    expect(await lockHolder(file)).toBeNull();
    expect(statedHolder(file)).toBeNull();
    (await acquireLock(file))!.release();
  });

  it('keeps another process out, and is free the moment that one is killed', async () => {
    const { child, said } = await other();
    expect(said).toBe('held');
    expect(await acquireLock(file)).toBeNull();
    expect((await lockHolder(file))!.pid).toBe(child.pid);
    await killed(child);
    expect(await lockHolder(file)).toBeNull();
    // What the killed one wrote is still there and misleads nobody.
    expect(readFileSync(file, 'utf8')).toContain(String(child.pid));
    const lock = await acquireLock(file);
    expect(lock).not.toBeNull();
    expect((await other()).said).toBe('refused');
    lock!.release();
  });

  it('is not kept by a program that the holder started', async () => {
    const { child } = await other(
      `const child = require('node:child_process').spawn('sleep', ['60'], { stdio: 'ignore', detached: true });
       require('node:fs').writeFileSync(process.argv[2] + '.child', String(child.pid));`,
    );
    const heir = Number(readFileSync(`${file}.child`, 'utf8'));
    try {
      await killed(child);
      expect(isAlive(heir)).toBe(true);
      const lock = await acquireLock(file);
      expect(lock).not.toBeNull();
      lock!.release();
    } finally {
      process.kill(heir, 'SIGKILL');
    }
  });

  it('gives it to exactly one of many that ask at once', async () => {
    const said = await Promise.all(Array.from({ length: 5 }, async () => (await other()).said));
    expect(said.sort()).toEqual(['held', 'refused', 'refused', 'refused', 'refused']);
  });

  it('does not name a dead process as the holder, nor another that has its number now', async () => {
    const lock = await acquireLock(file);
    for (const stale of [{ pid: process.pid, started: '1' }, { pid: 2 ** 22 + 1 }, { pid: -1 }, 'garbage', null]) {
      writeFileSync(file, JSON.stringify(stale));
      expect(await lockHolder(file)).toEqual({ pid: 0, started: null, url: null, stopping: false });
    }
    lock!.release();
  });

  it('asking makes no file', async () => {
    expect(await lockHolder(file)).toBeNull();
    expect(existsSync(file)).toBe(false);
  });

  it('says which file cannot be locked', async () => {
    await expect(acquireLock(folder)).rejects.toMatchObject({
      code: 'lock_failed',
      message: expect.stringContaining(folder) as string,
      params: { error: 'EISDIR' },
    });
    await expect(acquireLock('/proc/1/nowhere/server.lock')).rejects.toMatchObject({ code: 'folder_not_made' });
  });
});

describe('isAlive', () => {
  it('tells a process from a dead one, and from its successor', async () => {
    const { child } = await other();
    const started = processStart(child.pid!);
    expect(started).toMatch(/^\d+$/);
    expect([isAlive(child.pid!), isAlive(child.pid!, started), isAlive(child.pid!, '1')]).toEqual([true, true, false]);
    await killed(child);
    expect(isAlive(child.pid!)).toBe(false);
    for (const none of [0, -1, NaN, 1.5]) expect(isAlive(none)).toBe(false);
  });
});
