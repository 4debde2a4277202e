import {
  ACTIVATIONS,
  inferModule,
  inferOp,
  LAYERS,
  moduleWeights,
  OPS,
  singleLayer,
  type HostTensor,
  type LossSpec,
  type OpName,
  type OpTable,
} from '../runtime';
import type { Bench } from './contract';
import { expectClose, host, numbersOf, randoms, readNumbers } from './tensors';

type Sample<N extends OpName> = readonly [inputs: readonly HostTensor[], attrs: OpTable[N]];
type Samples = { readonly [N in OpName]: readonly Sample<N>[] };

const x = randoms([2, 3, 4], 1);
const y = randoms([3, 1], 2);
const image = randoms([2, 4, 7, 6], 3);
const whole = host('int64', [2, 3], [1, -2, 3, 4, 0, 6]);
const truth = host('bool', [2, 3], [1, 0, 0, 1, 1, 0]);
const positive = host('float32', [2, 3], [0.5, 1, 2, 3, 0.1, 9]);
const index = host('int64', [3], [1, 0, 1]);

/** At least one call of every op; the type makes the table complete. */
const SAMPLES: Samples = {
  add: [
    [[x, y], { alpha: 2 }],
    [[whole, index], {}],
  ],
  sub: [[[x, y], {}]],
  mul: [
    [[x, y], {}],
    [[whole, positive], {}],
  ],
  div: [
    [[x, randoms([4], 5)], {}],
    [[index, host('int64', [3], [2, 3, 4])], {}],
  ],
  pow: [
    [[positive], { exponent: 2.5 }],
    [[positive, positive], {}],
    [[whole], { exponent: 2 }],
  ],
  maximum: [[[x, y], {}]],
  minimum: [[[x, y], {}]],
  equal: [[[whole, index], {}]],
  greater: [[[x, y], {}]],
  less: [[[x, y], {}]],
  logicalAnd: [[[truth, truth], {}]],
  logicalNot: [[[truth], {}]],
  where: [[[truth, positive, randoms([2, 3])], {}]],
  lerp: [
    [[x, y], { weight: 0.25 }],
    [[x, x, y], {}],
  ],
  affine: [
    [[host('uint8', [4], [0, 1, 128, 255])], { scale: 1 / 255, shift: -0.5 }],
    [[x], { scale: 2 }],
  ],
  neg: [
    [[x], {}],
    [[whole], {}],
  ],
  abs: [[[x], {}]],
  exp: [[[x], {}]],
  log: [[[positive], {}]],
  sqrt: [[[positive], {}]],
  rsqrt: [[[positive], {}]],
  sin: [[[x], {}]],
  cos: [[[x], {}]],
  erf: [[[x], {}]],
  clamp: [
    [[x], { min: -0.5, max: 0.5 }],
    [[x], { min: 0 }],
  ],
  activation: ACTIVATIONS.map((name): Sample<'activation'> => [[x], { function: name }]),
  cast: [
    [[x], { dtype: 'int64' }],
    [[whole], { dtype: 'float32' }],
    [[truth], { dtype: 'float32' }],
  ],
  sum: [
    [[x], {}],
    [[x], { dim: [0, -1], keepdim: true }],
    [[truth], {}],
  ],
  mean: [[[x], { dim: 1 }]],
  amax: [[[x], { dim: -1 }]],
  amin: [[[x], {}]],
  var: [
    [[x], { dim: 2 }],
    [[x], { dim: [1, 2], correction: 0 }],
  ],
  norm: [[[x], { dim: 0, keepdim: true }]],
  argmax: [
    [[x], { dim: 1 }],
    [[x], {}],
  ],
  argmin: [[[x], { dim: -1, keepdim: true }]],
  cumsum: [[[x], { dim: 1 }]],
  topk: [[[x], { dim: -1, k: 2 }]],
  sort: [[[x], { dim: 1, descending: true }]],
  matmul: [
    [[x, randoms([4, 5])], {}],
    [[randoms([4]), randoms([4])], {}],
    [[x, randoms([4])], {}],
  ],
  reshape: [[[x], { shape: [-1, 2] }]],
  permute: [[[x], { dims: [2, 0, 1] }]],
  squeeze: [
    [[y], {}],
    [[y], { dim: 1 }],
  ],
  unsqueeze: [[[x], { dim: -1 }]],
  expand: [[[y], { shape: [2, -1, 4] }]],
  concat: [[[x, x], { dim: -2 }]],
  stack: [[[x, x], { dim: 1 }]],
  chunk: [[[x], { dim: 1, chunks: 2 }]],
  slice: [[[x], { ranges: [{ index: -1 }, { start: 1 }, { start: 3, stop: 0, step: -2 }] }]],
  indexSelect: [[[x, index], { dim: 0 }]],
  gather: [[[positive, host('int64', [2, 2], [0, 2, 1, 1])], { dim: 1 }]],
  flip: [[[x], { dims: [0, 2] }]],
  pad: [[[x], { pads: [1, 2, 0, -1], value: 3 }]],
  softmax: [[[x], { dim: 1 }]],
  logSoftmax: [[[x], { dim: -1 }]],
  oneHot: [[[index], { classes: 3 }]],
  conv1d: [[[randoms([2, 4, 9]), randoms([6, 2, 3]), randoms([6])], { groups: 2, stride: 2, padding: 1 }]],
  conv2d: [
    [[image, randoms([6, 4, 3, 2])], { stride: [2, 1], padding: [1, 0] }],
    [[image, randoms([4, 1, 3, 3]), randoms([4])], { groups: 4, dilation: 2 }],
  ],
  convTranspose2d: [[[image, randoms([4, 3, 3, 3])], { stride: 2, padding: 1, outputPadding: 1 }]],
  maxPool2d: [
    [[image], { kernelSize: 2 }],
    [[image], { kernelSize: 3, stride: 2, padding: 1 }],
  ],
  avgPool2d: [
    [[image], { kernelSize: 2 }],
    [[image], { kernelSize: 3, stride: 1, padding: 1, countIncludePad: false }],
  ],
  adaptiveAvgPool2d: [
    [[image], { outputSize: 1 }],
    [[image], { outputSize: [3, 2] }],
  ],
  upsample: [
    [[image], { mode: 'nearest', scaleFactor: 2 }],
    [[image], { mode: 'bilinear', scaleFactor: 2 }],
  ],
  dropout: [[[x], { p: 0.5 }]],
  full: [
    [[], { shape: [2, 3], value: 1.5, dtype: 'float32' }],
    [[], { shape: [], value: 7, dtype: 'int64' }],
  ],
  arange: [
    [[], { start: 0, end: 5, step: 2, dtype: 'int64' }],
    [[], { start: 1, end: 0, step: -0.25, dtype: 'float32' }],
  ],
  rand: [[[], { shape: [3, 2] }]],
  randn: [[[], { shape: [3, 2], mean: 5, std: 0.1 }]],
  randint: [[[], { shape: [4], low: 3, high: 9 }]],
  randperm: [[[], { n: 6 }]],
  loss: [[[randoms([4, 3]), host('int64', [4], [0, 2, 1, 1])], { type: 'CrossEntropy' }]],
  clone: [[[x], {}]],
  detach: [[[x], {}]],
};

/** Constructor arguments and inputs of every layer. */
const LAYER_SAMPLES: Readonly<Record<string, readonly (readonly [Record<string, unknown>, ...HostTensor[]])[]>> = {
  Linear: [
    [{ in_features: 4, out_features: 5 }, x],
    [{ in_features: 4, out_features: 2, bias: false }, randoms([3, 4])],
  ],
  Conv2d: [
    [{ in_channels: 4, out_channels: 6, kernel_size: 3, stride: 2, padding: 1, groups: 2 }, image],
    [{ in_channels: 4, out_channels: 2, kernel_size: [2, 3], padding: 'same', dilation: 2, bias: false }, image],
  ],
  MaxPool2d: [
    [{ kernel_size: 2 }, image],
    [{ kernel_size: 3, stride: 1, padding: 1 }, image],
  ],
  AvgPool2d: [
    [{ kernel_size: 2 }, image],
    [{ kernel_size: 3, padding: 1, count_include_pad: false }, image],
  ],
  AdaptiveAvgPool2d: [
    [{ output_size: 1 }, image],
    [{ output_size: [null, 3] }, image],
  ],
  BatchNorm1d: [
    [{ num_features: 3 }, x],
    [{ num_features: 4, affine: false }, randoms([5, 4])],
  ],
  BatchNorm2d: [[{ num_features: 4 }, image]],
  LayerNorm: [
    [{ normalized_shape: 4 }, x],
    [{ normalized_shape: [3, 4], elementwise_affine: false }, x],
  ],
  Dropout: [[{ p: 0.3 }, x]],
  Flatten: [
    [{}, image],
    [{ start_dim: -2 }, image],
  ],
  Reshape: [[{ shape: '2,-1' }, image]],
  SelectIndex: [[{ dim: 1, index: -1 }, x]],
  Embedding: [[{ num_embeddings: 7, embedding_dim: 3, padding_idx: 0 }, host('int64', [2, 3], [0, 1, 6, 2, 0, 5])]],
  MultiHeadAttention: [
    [{ embed_dim: 4, num_heads: 2, batch_first: true }, x],
    [{ embed_dim: 4, num_heads: 1, bias: false }, randoms([5, 2, 4]), randoms([3, 2, 4]), randoms([3, 2, 4])],
  ],
  ReLU: [[{}, x]],
  GELU: [
    [{}, x],
    [{ approximate: 'tanh' }, x],
  ],
  Sigmoid: [[{}, x]],
  Tanh: [[{}, x]],
  LeakyReLU: [[{ negative_slope: 0.2 }, x]],
  ELU: [[{}, x]],
  SiLU: [[{}, x]],
  Mish: [[{}, x]],
  SELU: [[{}, x]],
  PReLU: [
    [{}, x],
    [{ num_parameters: 3 }, x],
  ],
  Hardswish: [[{}, x]],
  Softmax: [
    [{}, x],
    [{ dim: 1 }, x],
  ],
  Add: [[{}, x, x, y]],
  Subtract: [[{}, x, y]],
  Multiply: [[{}, x, y]],
  Mean: [[{}, x, x]],
  Concat: [[{}, x, x]],
  Stack: [[{}, x, x]],
};

const LOSSES: readonly (readonly [string, LossSpec, HostTensor, HostTensor])[] = [
  ['CrossEntropy', { type: 'CrossEntropy', labelSmoothing: 0.1 }, randoms([4, 3]), host('int64', [4], [0, 2, 1, 1])],
  [
    'CrossEntropy sum, weighted',
    { type: 'CrossEntropy', reduction: 'sum', weight: [1, 2, 3] },
    randoms([4, 3]),
    host('int64', [4], [0, 2, 1, 1]),
  ],
  [
    'CrossEntropy none, over places',
    { type: 'CrossEntropy', reduction: 'none' },
    randoms([2, 3, 4]),
    host('int64', [2, 4], [0, 1, 2, 2, 1, 0, -100, 1]),
  ],
  ['MSE', { type: 'MSE' }, randoms([4, 3]), randoms([4, 3], 2)],
  ['MSE none', { type: 'MSE', reduction: 'none' }, randoms([4, 3]), randoms([4, 3], 2)],
  [
    'BCEWithLogits',
    { type: 'BCEWithLogits', posWeight: [3] },
    randoms([4, 3]),
    host('float32', [4, 3], [1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1]),
  ],
];

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
