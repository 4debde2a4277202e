import {
  inferModule,
  inferOp,
  LAYERS,
  moduleWeights,
  OPS,
  singleLayer,
  type HostTensor,
  type OpName,
} from '../runtime';
import { ARRAYS } from '../runtime/client/host-data';
import type { Bench } from './contract';
import { DTYPE_SAMPLES, index, LAYER_SAMPLES, LOSSES, SAMPLES, truth, x } from './samples';
import { expectClose, host, numbersOf, readNumbers } from './tensors';

const copy = (tensor: HostTensor): HostTensor => host(tensor.dtype, tensor.shape, numbersOf(tensor));

export function vocabularyContract(bench: () => Bench): void {
  describe('ops', () => {
    it.each(Object.keys(OPS) as OpName[])('%s gives the shapes and dtypes of shape inference', async (name) => {
      const scope = bench().runtime.openScope({ label: name, seed: 3 });
      try {
        for (const [inputs, attrs] of SAMPLES[name]) {
          const refs = inputs.map((input) => scope.upload(copy(input)));
          const outputs = scope.opMany(name, refs, attrs);
          const wanted = inferOp(name, inputs, attrs).outputs;
          for (const [at, output] of outputs.entries()) {
            const read = await scope.read(output);
            expect({ shape: [...read.shape], dtype: read.dtype }).toEqual({
              shape: [...wanted[at]!.shape],
              dtype: wanted[at]!.dtype,
            });
            expect(numbersOf(read).every(Number.isFinite)).toBe(true);
          }
        }
        await scope.settle();
      } finally {
        scope.close();
      }
    });

    it.each(
      DTYPE_SAMPLES.map(
        ([name, inputs, attrs]) => [name, inputs.map(({ dtype }) => dtype).join(', '), inputs, attrs] as const,
      ),
    )('%s of %s converts as shape inference says', async (name, _, inputs, attrs) => {
      const scope = bench().runtime.openScope({ label: name });
      try {
        const refs = inputs.map((input) => scope.upload(copy(input)));
        for (const output of scope.opMany(name, refs, attrs)) {
          const read = await scope.read(output);
          expect({ shape: [...read.shape], dtype: read.dtype }).toEqual({
            shape: [...output.shape],
            dtype: output.dtype,
          });
          expect(read.data.constructor.name).toBe(ARRAYS[output.dtype].name);
        }
      } finally {
        scope.close();
      }
    });

    it('move numbers where a naive implementation moves them', async () => {
      const scope = bench().runtime.openScope({ label: 'moves' });
      const [a] = [scope.upload(copy(x))];
      const at = (values: readonly number[], i: number, j: number, k: number) => values[i * 12 + j * 4 + k]!;
      const values = numbersOf(x);
      const permuted = await readNumbers(scope, scope.op('permute', [a], { dims: [2, 0, 1] }));
      const sliced = await readNumbers(scope, scope.op('slice', [a], { ranges: [{}, { index: 1 }, { step: -1 }] }));
      const padded = await readNumbers(scope, scope.op('pad', [a], { pads: [1, 0], value: 9 }));
      const picked = await readNumbers(scope, scope.op('indexSelect', [a, scope.upload(copy(index))], { dim: 1 }));
      let walk = 0;
      for (let k = 0; k < 4; k++)
        for (let i = 0; i < 2; i++) for (let j = 0; j < 3; j++) expect(permuted[walk++]).toBe(at(values, i, j, k));
      walk = 0;
      for (let i = 0; i < 2; i++) for (let k = 3; k >= 0; k--) expect(sliced[walk++]).toBe(at(values, i, 1, k));
      walk = 0;
      for (let i = 0; i < 2; i++)
        for (let j = 0; j < 3; j++)
          for (let k = -1; k < 4; k++) expect(padded[walk++]).toBe(k < 0 ? 9 : at(values, i, j, k));
      walk = 0;
      for (let i = 0; i < 2; i++)
        for (const j of [1, 0, 1]) for (let k = 0; k < 4; k++) expect(picked[walk++]).toBe(at(values, i, j, k));
      scope.close();
    });

    it('reads take ranges', async () => {
      const scope = bench().runtime.openScope({ label: 'ranges' });
      const a = scope.upload(copy(x));
      const part = await scope.read(a, { ranges: [{ index: 1 }, { start: 1, stop: 3 }] });
      expect([...part.shape]).toEqual([2, 4]);
      expect(numbersOf(part)).toEqual(numbersOf(x).slice(16, 24));
      expect(await scope.readScalar(scope.op('sum', [scope.upload(copy(truth))], {}))).toBe(3);
      scope.close();
    });

    it('statistics describe the numbers', async () => {
      const scope = bench().runtime.openScope({ label: 'stats' });
      const stats = await scope.stats(scope.upload(host('float32', [6], [0, 0, 1, 2, 3, NaN])));
      expect(stats).toMatchObject({ count: 6, min: 0, max: 3, nan: 1, inf: 0, sampled: false });
      expect(stats.histogram).toHaveLength(64);
      expect(stats.histogram.reduce((a, b) => a + b, 0)).toBe(5);
      scope.close();
    });
  });

  describe('layers', () => {
    it.each(Object.keys(LAYERS))(
      '%s gives the shapes of shape inference, in both modes, with weights as PyTorch starts them',
      async (name) => {
        const scope = bench().runtime.openScope({ label: name, seed: 11 });
        try {
          for (const [params, ...inputs] of LAYER_SAMPLES[name]!) {
            const ports = inputs.map((_, at) => `x${at}`);
            const spec = singleLayer(name, params, {
              inputs: ports,
              outputs: name === 'MultiHeadAttention' ? ['y', 'weights'] : ['y'],
            });
            const module = scope.module(spec);
            const weights = scope.tensorsOf(scope.snapshot(module));
            for (const { name: weight, init, shape } of moduleWeights(spec)) {
              const start = await scope.read(weights[weight]!);
              expect([...start.shape]).toEqual([...shape]);
              const numbers = numbersOf(start);
              if (init.kind === 'zeros') expect(new Set(numbers)).toEqual(new Set([0]));
              else if (init.kind === 'ones') expect(new Set(numbers)).toEqual(new Set([1]));
              else if (init.kind === 'constant') expect(new Set(numbers)).toEqual(new Set([init.value]));
              else if (init.kind === 'uniform') {
                expect(Math.max(...numbers.map(Math.abs))).toBeLessThanOrEqual(Math.fround(init.bound));
                expect(new Set(numbers).size).toBeGreaterThan(1);
              } else if (init.zeroRow !== undefined) {
                const width = shape[1]!;
                expect(
                  numbers.slice(init.zeroRow * width, (init.zeroRow + 1) * width).every((value) => value === 0),
                ).toBe(true);
              }
            }
            const refs = Object.fromEntries(inputs.map((input, at) => [ports[at]!, scope.upload(copy(input))]));
            for (const mode of ['train', 'eval'] as const) {
              const wanted = inferModule(
                spec,
                Object.fromEntries(inputs.map((input, at) => [ports[at]!, input])),
                mode,
              );
              const outputs = scope.forward(module, refs, { mode });
              for (const port in wanted) {
                const read = await scope.read(outputs[port]!);
                expect({ shape: [...read.shape], dtype: read.dtype }).toEqual({
                  shape: [...wanted[port]!.shape],
                  dtype: wanted[port]!.dtype,
                });
                expect(numbersOf(read).every(Number.isFinite)).toBe(true);
              }
            }
          }
          await scope.settle();
        } finally {
          scope.close();
        }
      },
    );
  });

  describe('losses', () => {
    it.each(LOSSES)('%s gives the shape of shape inference', async (_, spec, output, target) => {
      const scope = bench().runtime.openScope({ label: spec.type });
      const loss = scope.op('loss', [scope.upload(copy(output)), scope.upload(copy(target))], spec);
      const read = await scope.read(loss);
      expect([...read.shape]).toEqual([...loss.shape]);
      expect(numbersOf(read).every((value) => value >= 0)).toBe(true);
      scope.close();
    });

    it('mean, sum and none agree', async () => {
      const scope = bench().runtime.openScope({ label: 'reductions' });
      for (const [, spec, output, target] of LOSSES.filter(
        ([, { type, weight, posWeight }]) => type !== 'CrossEntropy' || (!weight && !posWeight),
      )) {
        if (numbersOf(target).includes(-100)) continue;
        const refs = [scope.upload(copy(output)), scope.upload(copy(target))];
        const of = (reduction: 'mean' | 'sum' | 'none') =>
          readNumbers(scope, scope.op('loss', refs, { ...spec, reduction }));
        const [none, [sum], [mean]] = [await of('none'), await of('sum'), await of('mean')];
        const total = none.reduce((a, b) => a + b, 0);
        expectClose([sum!, mean!], [total, total / none.length], 1e-5);
      }
      scope.close();
    });
  });
}
