import { singleLayer, type ModuleRef, type Scope, type TensorRef } from '../runtime';
import type { Bench } from './contract';
import { expectClose, host, numbersOf, randoms, readNumbers } from './tensors';

const STEP = 1e-2;

/** Central differences of `value` with respect to each of `numbers`. */
async function differences(
  numbers: readonly number[],
  value: (changed: number[]) => Promise<number>,
): Promise<number[]> {
  const result: number[] = [];
  for (let at = 0; at < numbers.length; at++) {
    const moved = (by: number) => value(numbers.map((number, i) => (i === at ? number + by : number)));
    result.push(((await moved(STEP)) - (await moved(-STEP))) / (2 * STEP));
  }
  return result;
}

export function gradientContract(bench: () => Bench): void {
  describe('gradients', () => {
    const first = singleLayer('Linear', { in_features: 3, out_features: 4 });
    const second = singleLayer('Linear', { in_features: 4, out_features: 2 });
    const target = host('int64', [5], [0, 1, 1, 0, 1]);
    const copyOf = () => host('int64', [5], numbersOf(target));

    /** Two modules with ops between them, as separate graph nodes are. */
    function network(scope: Scope, a: ModuleRef, b: ModuleRef, x: TensorRef): TensorRef {
      const hidden = scope.op('activation', [scope.forward(a, { x }, { mode: 'train' }).y!], { function: 'tanh' });
      const gated = scope.op('mul', [hidden, scope.op('activation', [hidden], { function: 'sigmoid' })], {});
      const logits = scope.forward(b, { x: gated }, { mode: 'train' }).y!;
      return scope.op('loss', [logits, scope.upload(copyOf())], { type: 'CrossEntropy' });
    }

    it('run backward across separate modules and ops, as finite differences say', async () => {
      const { runtime } = bench();
      const scope = runtime.openScope({ label: 'backward', seed: 2, recordGradients: true });
      const [a, b] = [scope.module(first), scope.module(second)];
      const input = numbersOf(randoms([5, 3], 9));
      const x = scope.upload(host('float32', [5, 3], input), { requiresGrad: true });
      const loss = network(scope, a, b, x);
      const { tensors, parameters } = await scope.backward(loss, { tensors: [x], modules: [a, b] });

      const plain = runtime.openScope({ label: 'differences' });
      const lossOf = async (numbers: readonly number[], one = a, two = b) => {
        const inner = runtime.openScope({ label: 'one difference' });
        const value = await inner.readScalar(network(inner, one, two, inner.upload(host('float32', [5, 3], numbers))));
        inner.close();
        return value;
      };
      expectClose(await readNumbers(scope, tensors[0]!), await differences(input, (moved) => lossOf(moved)), 2e-3);

      const weights = plain.tensorsOf(plain.snapshot(a));
      const other = plain.module(first);
      for (const name of ['layer.weight', 'layer.bias']) {
        const start = numbersOf(await plain.read(weights[name]!));
        const expected = await differences(start, async (moved) => {
          const changed = plain.upload(host('float32', weights[name]!.shape, moved));
          await plain.restore(other, plain.stateFrom({ ...weights, [name]: changed }), { strict: true });
          return lossOf(input, other);
        });
        expectClose(await readNumbers(scope, parameters[0]![name]!), expected, 2e-3);
      }
      expect(Object.keys(parameters[1]!)).toEqual(['layer.weight', 'layer.bias']);
      plain.close();
      scope.close();
    });

    it('cross scopes: each node has its own, and kept tensors carry the record', async () => {
      const { runtime } = bench();
      const open = (label: string) => runtime.openScope({ label, seed: 2, recordGradients: true });
      const make = open('make');
      const x = make.keep(make.upload(host('float32', [3], [1, 2, 3]), { requiresGrad: true }));
      make.close();
      const square = open('square');
      const y = square.keep(square.op('mul', [x, x], {}));
      await square.settle();
      square.close();
      const last = open('last');
      const of = last.op('sum', [last.op('mul', [y, x], {})], {});
      const { tensors } = await last.backward(of, { tensors: [x, y], modules: [] });
      expectClose(await readNumbers(last, tensors[0]!), [3, 12, 27], 1e-6);
      expectClose(await readNumbers(last, tensors[1]!), [1, 2, 3], 1e-6);
      // The record stays until the handles are gone: a second backward gives the same.
      const again = await last.backward(of, { tensors: [x], modules: [] });
      expectClose(await readNumbers(last, again.tensors[0]!), [3, 12, 27], 1e-6);
      last.close();
      x.release();
      y.release();
    });

    it('use the mask that forward drew, never a new one', async () => {
      const scope = bench().runtime.openScope({ label: 'mask', seed: 8, recordGradients: true });
      const x = scope.upload(host('float32', [200], new Array(200).fill(2)), { requiresGrad: true });
      const y = scope.op('dropout', [x], { p: 0.5 });
      const { tensors } = await scope.backward(y, { tensors: [x], modules: [] });
      const [out, gradient] = [await readNumbers(scope, y), await readNumbers(scope, tensors[0]!)];
      expect(gradient).toEqual(out.map((value) => value / 2));
      expect(new Set(gradient)).toEqual(new Set([0, 2]));
      scope.close();
    });

    it('are null where nothing depends, and stop at detach', async () => {
      const scope = bench().runtime.openScope({ label: 'nulls', seed: 8, recordGradients: true });
      const x = scope.upload(randoms([3]), { requiresGrad: true });
      const unused = scope.upload(randoms([3]), { requiresGrad: true });
      const module = scope.module(first);
      const of = scope.op('mul', [x, scope.op('detach', [x], {})], {});
      const { tensors, parameters } = await scope.backward(of, { tensors: [x, unused], modules: [module] });
      expect(await readNumbers(scope, tensors[0]!)).toEqual(await readNumbers(scope, x));
      expect(tensors[1]).toBeNull();
      expect(parameters[0]).toEqual({ 'layer.weight': null, 'layer.bias': null });
      scope.close();
    });

    it('a module used twice gets the sum', async () => {
      const scope = bench().runtime.openScope({ label: 'shared', seed: 8, recordGradients: true });
      const module = scope.module(singleLayer('Linear', { in_features: 2, out_features: 1 }));
      const ones = () => scope.upload(host('float32', [1, 2], [1, 10]));
      const [a, b] = [
        scope.forward(module, { x: ones() }, { mode: 'train' }).y!,
        scope.forward(module, { x: ones() }, { mode: 'train' }).y!,
      ];
      const { parameters } = await scope.backward(scope.op('add', [a, b], { alpha: 3 }), {
        tensors: [],
        modules: [module],
      });
      expect(await readNumbers(scope, parameters[0]!['layer.weight']!)).toEqual([4, 40]);
      expect(await readNumbers(scope, parameters[0]!['layer.bias']!)).toEqual([4]);
      scope.close();
    });
  });
}
