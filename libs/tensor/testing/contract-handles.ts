import { singleLayer } from '../runtime';
import type { Bench } from './contract';
import { host, randoms, readNumbers } from './tensors';

export function handleContract(bench: () => Bench): void {
  describe('handles', () => {
    it('are all gone when scopes and kept handles are', async () => {
      const { runtime } = bench();
      const before = (await runtime.memory()).liveHandles;
      const scope = runtime.openScope({ label: 'leaks', seed: 1, recordGradients: true });
      const x = scope.upload(randoms([4, 3]), { requiresGrad: true });
      const module = scope.module(singleLayer('Linear', { in_features: 3, out_features: 2 }));
      const { y } = scope.forward(module, { x }, { mode: 'train' });
      const of = scope.op('sum', [y!], {});
      await scope.backward(of, { tensors: [x], modules: [module] });
      const optimizer = scope.optimizer(module, { type: 'Adam', lr: 0.1 });
      scope.snapshot(optimizer);
      const trainer = scope.trainer({
        module,
        optimizer,
        loss: { type: 'MSE' },
        feed: { inputs: { x: 'x' }, target: 't' },
        precision: 'fp32',
      });
      await trainer.step({ host: { x: randoms([4, 3]), t: randoms([4, 2]) } });
      await trainer.collect();
      const kept = scope.keep(y!);
      scope.tensorsOf(scope.snapshot(module));
      scope.close();
      expect((await runtime.memory()).liveHandles).toBe(before + 1);
      kept.release();
      expect((await runtime.memory()).liveHandles).toBe(before);
    });

    it('failed ones leave nothing behind', async () => {
      const { runtime } = bench();
      const before = (await runtime.memory()).liveHandles;
      const scope = runtime.openScope({ label: 'failing' });
      const bad = scope.op('indexSelect', [scope.upload(randoms([2, 2])), scope.upload(host('int64', [1], [99]))], {
        dim: 0,
      });
      scope.op('exp', [bad], {});
      await expect(scope.settle()).rejects.toMatchObject({ label: 'failing' });
      scope.close();
      expect((await runtime.memory()).liveHandles).toBe(before);
    });

    it('a freed one throws at once; freeing one whose users are queued harms nothing', async () => {
      const scope = bench().runtime.openScope({ label: 'freed' });
      const x = scope.upload(host('float32', [2], [1, 2]));
      const y = scope.op('add', [x, x], {});
      x.release();
      expect(() => scope.op('exp', [x], {})).toThrow(expect.objectContaining({ code: 'handle_freed', op: 'exp' }));
      expect(await readNumbers(scope, y)).toEqual([2, 4]);
      scope.close();
    });

    it('an upload hands its buffer over, of a view only its part', async () => {
      const scope = bench().runtime.openScope({ label: 'upload' });
      const whole = new Float32Array(8).fill(1);
      const large = Float32Array.from({ length: 100 }, (_, i) => i);
      const [a, b] = [
        scope.upload({ shape: [8], dtype: 'float32', data: whole }),
        scope.upload({ shape: [3], dtype: 'float32', data: large.subarray(10, 13) }),
      ];
      expect(await readNumbers(scope, a)).toEqual(new Array(8).fill(1));
      expect(await readNumbers(scope, b)).toEqual([10, 11, 12]);
      expect(whole.byteLength).toBe(0);
      expect(large[99]).toBe(99);
      scope.close();
    });

    it('what was read is the reader’s: changing it changes nothing', async () => {
      const scope = bench().runtime.openScope({ label: 'read' });
      const x = scope.upload(host('float32', [2], [1, 2]));
      const read = await scope.read(x);
      (read.data as Float32Array).fill(7);
      expect(await readNumbers(scope, x)).toEqual([1, 2]);
      const view = await scope.read(scope.op('reshape', [x], { shape: [1, 2] }));
      (view.data as Float32Array).fill(7);
      expect(await readNumbers(scope, x)).toEqual([1, 2]);
      scope.close();
    });
  });

  describe('flow', () => {
    it('1,000 pipelined ops need no round trip but the read', async () => {
      const { runtime, wire } = bench();
      const scope = runtime.openScope({ label: 'pipeline' });
      let h = scope.upload(host('float32', [8, 8], new Array(64).fill(0)));
      const one = scope.upload(host('float32', [], [1]));
      await scope.settle();
      wire.reset();
      for (let i = 0; i < 1000; i++) h = scope.op('add', [h, one], {});
      expect(await readNumbers(scope, h)).toEqual(new Array(64).fill(1000));
      expect(wire.replies).toBe(1);
      expect(wire.framesSent).toBe(Math.ceil(1001 / 128));
      scope.close();
    });

    it('ready keeps a loop of ops at 4,096 unacknowledged commands', async () => {
      const { runtime, wire } = bench();
      const scope = runtime.openScope({ label: 'ready' });
      const one = scope.upload(host('float32', [], [1]));
      await scope.settle();
      wire.reset();
      let h = one;
      for (let i = 0; i < 6000; i++) {
        await runtime.ready();
        h = scope.op('add', [h, one], {});
      }
      // The loop gives way to nothing but `ready`: only that lets acknowledgements in.
      expect(wire.mostOpen).toBeLessThanOrEqual(4096);
      expect(wire.mostOpen).toBeGreaterThan(3000);
      expect(await scope.readScalar(h)).toBe(6001);
      scope.close();
    });
  });
}
