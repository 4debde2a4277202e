import { singleLayer, type TensorRef } from '../runtime';
import type { Bench } from './contract';
import { host, randoms, readNumbers } from './tensors';

export function errorContract(bench: () => Bench): void {
  describe('errors', () => {
    it('follow the data through a burst of 100 ops: dependents reject with the first cause, others answer', async () => {
      const { runtime } = bench();
      const bad = runtime.openScope({ label: 'bad' });
      const good = runtime.openScope({ label: 'good' });
      const chain = (from: TensorRef, length: number, scope: typeof bad) => {
        let h = from;
        for (let i = 0; i < length; i++) h = scope.op('abs', [h], {});
        return h;
      };
      const start = chain(bad.upload(randoms([4, 2])), 49, bad);
      const failing = bad.op('indexSelect', [start, bad.upload(host('int64', [2], [1, 99]))], { dim: 0 });
      const dependent = chain(failing, 50, bad);
      const other = chain(good.upload(host('float32', [2], [-1, 2])), 50, good);
      const [first, second] = await Promise.allSettled([bad.read(dependent), readNumbers(good, other)]);
      expect(first).toMatchObject({
        status: 'rejected',
        reason: {
          name: 'RuntimeError',
          op: 'indexSelect',
          label: 'bad',
          message: expect.stringContaining('indexSelect'),
        },
      });
      expect(second).toEqual({ status: 'fulfilled', value: [1, 2] });
      expect(() => bad.op('abs', [failing], {})).toThrow(expect.objectContaining({ op: 'indexSelect', label: 'bad' }));
      await expect(bad.settle()).resolves.toBeUndefined();
      await expect(good.settle()).resolves.toBeUndefined();
      bad.close();
      good.close();
    });

    it('that nobody read surface at settle, in the scope that made them', async () => {
      const { runtime } = bench();
      const silent = runtime.openScope({ label: 'silent' });
      const innocent = runtime.openScope({ label: 'innocent' });
      silent.op('indexSelect', [silent.upload(randoms([2])), silent.upload(host('int64', [1], [5]))], { dim: 0 });
      innocent.op('exp', [innocent.upload(randoms([2]))], {});
      await expect(innocent.settle()).resolves.toBeUndefined();
      await expect(silent.settle()).rejects.toMatchObject({ label: 'silent', op: 'indexSelect' });
      silent.close();
      innocent.close();
    });

    it('of shapes are thrown in the words of PyTorch before anything is sent', async () => {
      const { runtime, wire } = bench();
      const scope = runtime.openScope({ label: 'shapes', seed: 1 });
      const x = scope.upload(randoms([4, 3]));
      const module = scope.module(singleLayer('Linear', { in_features: 5, out_features: 2 }));
      await scope.settle();
      wire.reset();
      expect(() => scope.op('matmul', [x, x], {})).toThrow(/mat1 and mat2 shapes cannot be multiplied \(4x3 and 4x3\)/);
      expect(() => scope.forward(module, { x }, { mode: 'eval' })).toThrow(
        expect.objectContaining({ code: 'shape_mismatch', label: 'shapes', op: 'Linear' }),
      );
      await scope.settle();
      expect(wire.framesSent).toBe(0);
      scope.close();
    });

    it('of file work reject with a reason', async () => {
      const scope = bench().runtime.openScope({ label: 'files', seed: 1 });
      await expect(scope.loadState('/nowhere/at/all.safetensors')).rejects.toMatchObject({
        name: 'RuntimeError',
        label: 'files',
      });
      const state = scope.stateFrom({ a: scope.upload(randoms([2])) });
      await expect(scope.saveState('/nowhere/at/all.safetensors', { a: state }, {})).rejects.toMatchObject({
        label: 'files',
      });
      scope.close();
    });

    it.each([3, -1])('an index of %s into three rows is an error in words', async (wrong) => {
      const scope = bench().runtime.openScope({ label: 'indices', seed: 1, recordGradients: true });
      const module = scope.module(singleLayer('Embedding', { num_embeddings: 3, embedding_dim: 2 }));
      const index = scope.upload(host('int64', [2], [1, wrong]));
      const rows = scope.upload(randoms([3, 2]));
      const results = [
        scope.forward(module, { x: index }, { mode: 'eval' })['y']!,
        scope.forward(module, { x: index }, { mode: 'train' })['y']!,
        scope.op('indexSelect', [rows, index], { dim: 0 }),
        scope.op('gather', [scope.op('sum', [rows], { dim: 1 }), index], { dim: 0 }),
        scope.op('loss', [scope.upload(randoms([2, 3])), index], { type: 'CrossEntropy' }),
      ];
      for (const result of results) {
        await expect(scope.read(result)).rejects.toMatchObject({
          code: 'invalid_argument',
          label: 'indices',
          message: expect.stringContaining('an index or a class number is'),
        });
      }
      const fine = scope.op('indexSelect', [rows, scope.upload(host('int64', [1], [2]))], { dim: 0 });
      expect((await readNumbers(scope, fine)).length).toBe(2);
      scope.close();
    });
  });
}
