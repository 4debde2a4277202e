import { createClient } from '../runtime/client';
import { runtimeContract } from './contract';
import { PipeTransport } from './pipe-transport';
import { host, randoms } from './tensors';

runtimeContract('the embedded runtime behind a pipe', ({ threads = 1 }) => new PipeTransport({ threads, check: true }));

describe('the death of the process', () => {
  it('rejects what waits, poisons the client and is told once', async () => {
    const runtime = await createClient(new PipeTransport({ threads: 1, check: false }));
    const scope = runtime.openScope({ label: 'victim' });
    const x = scope.upload(randoms([64, 64]));
    await scope.settle();
    let h = x;
    for (let i = 0; i < 2000; i++) h = scope.op('matmul', [h, x], {});
    const waiting = [scope.read(h), scope.settle(), runtime.memory()];
    const ends = Promise.allSettled(waiting);
    process.kill(runtime.facts.pid, 'SIGKILL');
    for (const end of await ends) {
      expect(end).toMatchObject({
        status: 'rejected',
        reason: { code: 'host_exited', signal: 'SIGKILL', label: 'victim' },
      });
    }
    await expect(runtime.gone).resolves.toMatchObject({ code: 'host_exited' });
    expect(() => scope.upload(host('float32', [], [1]))).toThrow(expect.objectContaining({ code: 'host_exited' }));
    expect(() => scope.close()).not.toThrow();
    await expect(runtime.close()).resolves.toBeUndefined();
  });

  it('by force is an orderly close', async () => {
    const runtime = await createClient(new PipeTransport({ threads: 1, check: false }));
    await runtime.close({ force: true });
    await expect(runtime.gone).resolves.toBeNull();
  });
});
