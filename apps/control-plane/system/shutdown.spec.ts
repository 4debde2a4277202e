import { spawnSync } from 'node:child_process';
import { entryPath } from '@cdui/host/entry';

/** A program that stops as the server does, with something in the place of the server; `then` happens when it is up. */
function ended(then: string, unfinished = 0): { status: number | null; signal: string | null; said: string[] } {
  const program = `
    const { stopOnSignals } = require(${JSON.stringify(entryPath('apps/control-plane/system/shutdown'))});
    const boot = {};
    stopOnSignals({
      app: { get: () => boot, close: async () => { console.log(boot.stopping ? 'closed' : 'not told'); CLOSE } },
      unfinished: () => ${unfinished},
      removeFiles: () => console.log('removed'),
    });
    setInterval(() => undefined, 1000);
    ${then}`;
  const [body, close = ''] = program.split('CLOSE:');
  const { status, signal, stdout } = spawnSync(process.execPath, ['-e', body!.replace('CLOSE', close)], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { status, signal, said: stdout.split('\n').filter((line) => /^(closed|removed|not told)$/.test(line)) };
}

const stopped = ['closed', 'removed'];

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'])('%s stops in order, once, with 0', (signal) => {
  const twice = `process.kill(process.pid, '${signal}'); process.kill(process.pid, '${signal}');`;
  expect(ended(twice)).toEqual({ status: 0, signal: null, said: stopped });
});

it.each(['setImmediate(() => { throw new Error("boom"); });', 'Promise.reject(new Error("boom"));'])(
  'a defect stops in order, with 1: %s',
  (defect) => {
    expect(ended(defect)).toEqual({ status: 1, signal: null, said: stopped });
  },
);

it('ends from outside while a thread computes, after all is closed', () => {
  expect(ended(`process.kill(process.pid, 'SIGTERM');`, 1)).toEqual({ status: null, signal: 'SIGKILL', said: stopped });
});

it('says so with its status when something could not be closed', () => {
  expect(ended(`process.kill(process.pid, 'SIGTERM'); CLOSE: throw new Error('stuck');`)).toEqual({
    status: 1,
    signal: null,
    said: stopped,
  });
});
