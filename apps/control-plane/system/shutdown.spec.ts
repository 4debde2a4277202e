import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryPath } from '@cdui/host/entry';

/** A program that stops as the server does, with something in the place of the server; `then` happens when it is up. */
function ended(
  then: string,
  unfinished = 0,
): { status: number | null; signal: string | null; said: string[]; errors: string } {
  const program = `
    const { stopOnSignals } = require(${JSON.stringify(entryPath('apps/control-plane/system/shutdown'))});
    const boot = {};
    stopOnSignals({
      app: { get: () => boot, close: async () => { console.log(boot.stopping ? 'closed' : 'not told'); CLOSE } },
      unfinished: () => ${unfinished},
      tell: () => undefined,
      removeFiles: () => console.log('removed'),
      patienceMs: 2000,
    });
    setInterval(() => undefined, 1000);
    ${then}`;
  const [body, close = ''] = program.split('CLOSE:');
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['-e', body!.replace('CLOSE', close)], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  return {
    status,
    signal,
    said: stdout.split('\n').filter((line) => /^(closed|removed|not told)$/.test(line)),
    errors: stderr,
  };
}

const stopped = ['closed', 'removed'];

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'])('%s stops in order, once, with 0', (signal) => {
  const twice = `process.kill(process.pid, '${signal}'); process.kill(process.pid, '${signal}');`;
  expect(ended(twice)).toMatchObject({ status: 0, signal: null, said: stopped });
});

it.each(['setImmediate(() => { throw new Error("boom"); });', 'Promise.reject(new Error("boom"));'])(
  'a defect stops in order, with 1: %s',
  (defect) => {
    expect(ended(defect)).toMatchObject({ status: 1, signal: null, said: stopped });
  },
);

it('ends from outside while a thread computes, after all is closed', () => {
  expect(ended(`process.kill(process.pid, 'SIGTERM');`, 1)).toMatchObject({
    status: null,
    signal: 'SIGKILL',
    said: stopped,
  });
});

it('says so with its status when something could not be closed', () => {
  expect(ended(`process.kill(process.pid, 'SIGTERM'); CLOSE: throw new Error('stuck');`)).toMatchObject({
    status: 1,
    signal: null,
    said: stopped,
  });
});

describe('with every thread of the pool waiting for a pipe that nobody writes into', () => {
  let folder: string;
  let hang: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cdui-shutdown-'));
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    // Locks were taken with it when the server started.
    hang = `
      require('koffi');
      for (let i = 0; i < 8; i++) require('node:fs').readFile(${JSON.stringify(pipe)}, () => undefined);
      setTimeout(() => process.kill(process.pid, 'SIGTERM'), 100);`;
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('ends once it is closed', () => {
    expect(ended(hang)).toMatchObject({ status: 0, signal: null, said: stopped });
  });

  it('ends at its last deadline with 1 and says why, when it cannot be closed', () => {
    const { status, signal, said, errors } = ended(
      `${hang} CLOSE: await require('node:fs/promises').readFile('/dev/null');`,
    );
    expect({ status, signal, said }).toEqual({ status: 1, signal: null, said: stopped });
    expect(errors).toContain('was not closed within 2 s after SIGTERM');
  });
});
