import { singleLayer } from '../runtime';
import type { Bench } from './contract';
import { host, readNumbers } from './tensors';

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const deviation = (values: readonly number[]) => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));

export function randomContract(bench: () => Bench): void {
  describe('randomness', () => {
    /** What a scope of this seed draws, in one order of calls. */
    async function draw(seed: number, between: () => Promise<void> = async () => undefined): Promise<number[]> {
      const scope = bench().runtime.openScope({ label: 'draw', seed });
      const module = scope.module(singleLayer('Linear', { in_features: 3, out_features: 2 }));
      const weights = scope.tensorsOf(scope.snapshot(module));
      await between();
      const ones = scope.upload(host('float32', [64], new Array(64).fill(1)));
      const drawn = [
        weights['layer.weight']!,
        scope.op('rand', [], { shape: [5] }),
        scope.op('randn', [], { shape: [5] }),
        scope.op('randint', [], { shape: [5], low: 0, high: 1000 }),
        scope.op('randperm', [], { n: 8 }),
        scope.op('dropout', [ones], { p: 0.5 }),
      ];
      const numbers = await Promise.all(drawn.map((tensor) => readNumbers(scope, tensor)));
      scope.close();
      return numbers.flat();
    }

    it('depends on the seed alone: equal seeds draw alike, also when nodes interleave', async () => {
      const first = await draw(5);
      expect(await draw(5)).toEqual(first);
      const interleaved = await draw(5, async () => {
        const other = bench().runtime.openScope({ label: 'other', seed: 1 });
        await readNumbers(other, other.op('rand', [], { shape: [100] }));
        other.close();
      });
      expect(interleaved).toEqual(first);
      expect(await draw(6)).not.toEqual(first);
    });

    it('draws go on from where they were; a generator of its own starts afresh', async () => {
      const scope = bench().runtime.openScope({ label: 'go on', seed: 5 });
      const [a, b] = [scope.op('rand', [], { shape: [8] }), scope.op('rand', [], { shape: [8] })];
      const again = scope.op('rand', [], { shape: [8] }, { generator: scope.generator(5) });
      const [first, second, third] = await Promise.all([a, b, again].map((tensor) => readNumbers(scope, tensor)));
      expect(second).not.toEqual(first);
      expect(third).toEqual(first);
      scope.close();
    });

    it('has the distributions it names', async () => {
      const scope = bench().runtime.openScope({ label: 'distributions', seed: 17 });
      const n = 20_000;
      const uniform = await readNumbers(scope, scope.op('rand', [], { shape: [n] }));
      const normal = await readNumbers(scope, scope.op('randn', [], { shape: [n], mean: 2, std: 3 }));
      const whole = await readNumbers(scope, scope.op('randint', [], { shape: [n], low: 3, high: 7 }));
      const order = await readNumbers(scope, scope.op('randperm', [], { n: 100 }));
      // Five standard errors: a right generator fails once in two million runs, and the seed is fixed.
      expect(Math.abs(mean(uniform) - 0.5)).toBeLessThan((5 * Math.sqrt(1 / 12)) / Math.sqrt(n));
      expect(Math.min(...uniform)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...uniform)).toBeLessThan(1);
      expect(Math.abs(mean(normal) - 2)).toBeLessThan(15 / Math.sqrt(n));
      expect(Math.abs(deviation(normal) - 3)).toBeLessThan(15 / Math.sqrt(2 * n));
      expect(new Set(whole)).toEqual(new Set([3, 4, 5, 6]));
      expect(order.toSorted((a, b) => a - b)).toEqual([...new Array(100).keys()]);
      expect(order).not.toEqual([...new Array(100).keys()]);
      scope.close();
    });

    it.each([0.1, 0.5, 0.9])(
      'dropout with p = %d drops that share and scales the rest; evaluation leaves all',
      async (p) => {
        const scope = bench().runtime.openScope({ label: 'dropout', seed: 4 });
        const n = 20_000;
        const x = scope.upload(host('float32', [n], new Array(n).fill(1)));
        const module = scope.module(singleLayer('Dropout', { p }));
        for (const tensor of [scope.op('dropout', [x], { p }), scope.forward(module, { x }, { mode: 'train' }).y!]) {
          const values = await readNumbers(scope, tensor);
          const dropped = values.filter((value) => value === 0).length / n;
          expect(Math.abs(dropped - p)).toBeLessThan((5 * Math.sqrt(p * (1 - p))) / Math.sqrt(n));
          expect(new Set(values)).toEqual(new Set([0, Math.fround(1 / (1 - p))]));
        }
        const passes = await Promise.all(
          [1, 2].map(() => readNumbers(scope, scope.forward(module, { x }, { mode: 'train' }).y!)),
        );
        expect(passes[0]).not.toEqual(passes[1]);
        expect(await readNumbers(scope, scope.forward(module, { x }, { mode: 'eval' }).y!)).toEqual(
          new Array(n).fill(1),
        );
        scope.close();
      },
    );

    it('dropout with p = 0 keeps everything and with p = 1 nothing', async () => {
      const scope = bench().runtime.openScope({ label: 'edges', seed: 4 });
      const x = scope.upload(host('float32', [3], [1, 2, 3]));
      expect(await readNumbers(scope, scope.op('dropout', [x], { p: 0 }))).toEqual([1, 2, 3]);
      expect((await readNumbers(scope, scope.op('dropout', [x], { p: 1 }))).map(Math.abs)).toEqual([0, 0, 0]);
      scope.close();
    });
  });
}
