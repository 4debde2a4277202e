import fc from 'fast-check';
import { times } from '../../../../testing/long';
import { inferOp, type HostTensor, type OpName } from '../../runtime';
import type { EmitContext } from '../compiler';
import { gradients } from '../grad/gradients';
import { opsInOrder } from '../graph/encode';
import { Graph } from '../graph/graph';
import type { Value } from '../graph/value';
import { apart, checkGradients, smooth } from '../testing/check-gradients';
import { floats, longs, numbersOf, runGraph } from '../testing/run-graph';
import { emitOp } from './emit';

const TRAIN: EmitContext = {
  mode: 'train',
  uniform: () => {
    throw new Error('not random');
  },
};

async function check(
  op: OpName,
  attrs: unknown,
  inputs: readonly HostTensor[],
  wanted?: readonly number[],
): Promise<void> {
  const { outputs } = inferOp(op, inputs, attrs as never);
  await checkGradients({
    inputs,
    ...(wanted ? { wanted } : {}),
    build: (g, values) => {
      const emitted = emitOp(g, op, values, attrs, TRAIN);
      expect(emitted.map(({ shape, dtype }) => ({ shape, dtype }))).toEqual(outputs);
      return emitted;
    },
  });
}

/** How many batched products a gradient is made of. */
function partsOf(d: Value): number {
  return opsInOrder([d], (op) => op.inputs).filter(({ type }) => type === 'FusedMatMul').length;
}

const runs = times(4, 60);
const seed = fc.integer({ min: 1, max: 2 ** 31 });
const size = fc.integer({ min: 1, max: 4 });
const shape = (min = 0, max = 3) => fc.array(size, { minLength: min, maxLength: max });

/** A shape and one that broadcasts with it. */
const pairOfShapes = shape(1, 3)
  .chain((full) =>
    fc.tuple(
      fc.constant(full),
      fc
        .tuple(...full.map((length) => fc.constantFrom(1, length)))
        .chain((partial) => fc.integer({ min: 0, max: full.length }).map((dropped) => partial.slice(dropped))),
      fc.boolean(),
    ),
  )
  .map(([a, b, swap]): readonly [number[], number[]] => (swap ? [b, a] : [a, b]));

describe('elementwise gradients', () => {
  for (const op of ['add', 'sub', 'mul', 'div', 'maximum', 'minimum', 'lerp'] as const) {
    test(op, async () => {
      await fc.assert(
        fc.asyncProperty(pairOfShapes, seed, async ([a, b], s) => {
          // Denominators away from zero; odd against even multiples of 0.05, so that no difference crosses a tie.
          const left = op === 'maximum' || op === 'minimum' ? apart(a, s) : smooth(a, s);
          const right = op === 'maximum' || op === 'minimum' ? apart(b, s + 1, 0.2) : smooth(b, s + 1, 0.6, 2);
          await check(op, op === 'lerp' ? { weight: 0.3 } : op === 'add' || op === 'sub' ? { alpha: 1.5 } : {}, [
            left,
            right,
          ]);
        }),
        { numRuns: runs },
      );
    });
  }

  test('pow by an exponent and by a tensor', async () => {
    for (const exponent of [-1, 0, 0.5, 1, 2, 3, 2.5]) await check('pow', { exponent }, [smooth([2, 3], 5, 0.5, 2)]);
    await check('pow', {}, [smooth([2, 3], 5, 0.5, 2), smooth([3], 6, -2, 2)]);
    await check('lerp', {}, [smooth([2, 3], 5), smooth([3], 6), smooth([2, 1], 7)]);
  });

  const domain: Partial<Record<OpName, readonly [number, number]>> = { log: [0.5, 3], sqrt: [0.5, 3], rsqrt: [0.5, 3] };
  for (const op of ['neg', 'exp', 'log', 'sqrt', 'rsqrt', 'sin', 'cos', 'erf', 'clone'] as const) {
    test(op, async () => {
      await fc.assert(
        fc.asyncProperty(shape(), seed, async (dims, s) => {
          await check(op, {}, [smooth(dims, s, ...(domain[op] ?? [-1.5, 1.5]))]);
        }),
        { numRuns: runs },
      );
    });
  }

  test('abs, clamp, affine, cast, where', async () => {
    await check('abs', {}, [apart([3, 4], 3)]);
    await check('clamp', { min: -0.3, max: 0.4 }, [apart([3, 4], 3)]);
    await check('clamp', { min: -0.3 }, [apart([3, 4], 3)]);
    await check('affine', { scale: 2, shift: -1 }, [smooth([3, 4], 3)]);
    const condition: HostTensor = { shape: [2, 1], dtype: 'bool', data: Uint8Array.of(1, 0) };
    await check('where', {}, [condition, smooth([2, 3], 1), smooth([3], 2)]);
  });

  const functions = [
    'relu',
    'gelu',
    'sigmoid',
    'tanh',
    'leaky_relu',
    'elu',
    'silu',
    'mish',
    'selu',
    'prelu',
    'hardswish',
    'softmax',
  ] as const;
  for (const name of functions) {
    test(`activation ${name}`, async () => {
      await fc.assert(
        fc.asyncProperty(shape(1), seed, async (dims, s) => {
          await check('activation', { function: name }, [apart(dims, s, 0.17)]);
        }),
        { numRuns: runs },
      );
    });
  }

  test('prelu with weights', async () => {
    await check('activation', { function: 'prelu' }, [apart([2, 3, 2], 4), smooth([3], 5)]);
    await check('activation', { function: 'prelu' }, [apart([2, 3, 2], 4), smooth([1], 5)]);
  });

  test('GELU has the slope 1/2 at zero', async () => {
    await check('activation', { function: 'gelu' }, [smooth([1], 1, 0, 0)]);
  });
});

const reduction = shape(1).chain((dims) =>
  fc.record({
    dims: fc.constant(dims),
    dim: fc.option(
      fc.subarray(
        dims.map((_, i) => i),
        { minLength: 1 },
      ),
      { nil: undefined },
    ),
    keepdim: fc.boolean(),
  }),
);

describe('reduction gradients', () => {
  for (const op of ['sum', 'mean', 'amax', 'amin', 'norm'] as const) {
    test(op, async () => {
      await fc.assert(
        fc.asyncProperty(reduction, seed, async ({ dims, ...attrs }, s) => {
          await check(op, attrs, [apart(dims, s)]);
        }),
        { numRuns: runs },
      );
    });
  }

  test('var', async () => {
    await check('var', {}, [smooth([3, 4], 1)]);
    await check('var', { dim: [1], keepdim: true, correction: 0 }, [smooth([3, 4, 2], 2)]);
  });

  test('a tensor of no dimensions', async () => {
    for (const op of ['sum', 'mean', 'amax', 'norm'] as const) await check(op, {}, [smooth([], 3, 0.5, 1)]);
    await check('cumsum', { dim: 0 }, [smooth([], 3)]);
    await check('sort', { dim: 0 }, [smooth([], 3)]);
    await check('softmax', { dim: 0 }, [smooth([], 3)]);
  });

  test('cumsum, topk, sort, softmax, logSoftmax along any axis', async () => {
    for (const dim of [0, 1, -1]) {
      await check('cumsum', { dim }, [smooth([3, 4, 2], 1)]);
      await check('topk', { dim, k: 2 }, [apart([3, 4, 2], 1)]);
      await check('sort', { dim, descending: true }, [apart([3, 4, 2], 1)]);
      await check('sort', { dim }, [apart([3, 4, 2], 1)]);
      await check('softmax', { dim }, [smooth([3, 4, 2], 1)]);
      await check('logSoftmax', { dim }, [smooth([3, 4, 2], 1)]);
    }
  });
});

describe('shape gradients', () => {
  test('reshape, permute, squeeze, unsqueeze, expand, flip', async () => {
    await check('reshape', { shape: [2, -1] }, [smooth([4, 3], 1)]);
    await check('permute', { dims: [2, 0, 1] }, [smooth([2, 3, 4], 1)]);
    await check('squeeze', {}, [smooth([1, 3, 1], 1)]);
    await check('unsqueeze', { dim: -1 }, [smooth([2, 3], 1)]);
    await check('expand', { shape: [2, 3, 4] }, [smooth([3, 1], 1)]);
    await check('flip', { dims: [0, 2] }, [smooth([2, 3, 4], 1)]);
  });

  test('concat, stack, chunk', async () => {
    await check('concat', { dim: 1 }, [smooth([2, 3], 1), smooth([2, 1], 2), smooth([2, 2], 3)]);
    await check('stack', { dim: 1 }, [smooth([2, 3], 1), smooth([2, 3], 2)]);
    await check('chunk', { dim: 1, chunks: 3 }, [smooth([2, 7], 1)]);
  });

  const range = fc.oneof(
    fc.record({ index: fc.integer({ min: -2, max: 1 }) }),
    fc.record({
      start: fc.option(fc.integer({ min: -5, max: 5 }), { nil: undefined }),
      stop: fc.option(fc.integer({ min: -5, max: 5 }), { nil: undefined }),
      step: fc.constantFrom(1, 2, 3, -1, -2),
    }),
  );
  test('slice with any start, stop, step or index', async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(range, range, range), seed, async (ranges, s) => {
        const x = smooth([4, 5, 2], s);
        fc.pre(!inferOp('slice', [x], { ranges }).outputs[0]!.shape.includes(0));
        await check('slice', { ranges }, [x]);
      }),
      { numRuns: times(12, 300) },
    );
  });

  test('pad grows and crops', async () => {
    await check('pad', { pads: [1, 2, 0, 1], value: 0.5 }, [smooth([2, 3], 1)]);
    await check('pad', { pads: [-1, 2, 1, -1] }, [smooth([3, 4], 1)]);
  });

  test('indexSelect and gather with repeated indices', async () => {
    for (const dim of [0, 1, 2]) {
      await check('indexSelect', { dim }, [smooth([3, 3, 3], 1), longs([4], [2, 0, 2, 1])], [0]);
      await check('gather', { dim }, [smooth([3, 3, 3], 1), longs([2, 2, 2], [0, 0, 2, 1, 1, 1, 2, 0])], [0]);
    }
  });
});

describe('products', () => {
  const shapes: readonly (readonly [number[], number[]])[] = [
    [[3], [3]],
    [[2, 3], [3]],
    [[3], [3, 2]],
    [
      [2, 3],
      [3, 4],
    ],
    [
      [2, 2, 3],
      [3, 4],
    ],
    [
      [2, 2, 3],
      [2, 3, 4],
    ],
    [
      [3, 1, 2, 3],
      [2, 3, 2],
    ],
    [
      [2, 3],
      [4, 3, 2],
    ],
  ];
  for (const [a, b] of shapes) {
    test(`matmul [${a.join()}] [${b.join()}]`, async () => check('matmul', {}, [smooth(a, 1), smooth(b, 2)]));
  }
});

describe('images', () => {
  const conv = fc.record({
    batch: fc.integer({ min: 1, max: 2 }),
    groups: fc.constantFrom(1, 1, 2),
    inputs: fc.constantFrom(1, 2, 8),
    outputs: fc.constantFrom(1, 2),
    kernel: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })),
    stride: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 })),
    padding: fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 })),
    dilation: fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 2 })),
    height: fc.integer({ min: 5, max: 7 }),
  });

  test('conv2d of any stride, padding, dilation, groups', async () => {
    await fc.assert(
      fc.asyncProperty(conv, seed, async (c, s) => {
        const x = smooth([c.batch, c.inputs * c.groups, c.height, 5], s);
        const weight = smooth([c.outputs * c.groups, c.inputs, ...c.kernel], s + 1);
        const attrs = { stride: c.stride, padding: c.padding, dilation: c.dilation, groups: c.groups };
        await check('conv2d', attrs, [x, weight, smooth([c.outputs * c.groups], s + 2)]);
      }),
      { numRuns: times(10, 200) },
    );
  });

  test('convTranspose2d of any stride, padding, dilation, groups, output padding', async () => {
    await fc.assert(
      fc.asyncProperty(conv, fc.integer({ min: 0, max: 1 }), seed, async (c, extra, s) => {
        const kernel = c.kernel.map((k) => k + 1) as [number, number];
        const padding = c.padding.map((p, i) => Math.min(p, c.dilation[i as 0 | 1] * (kernel[i as 0 | 1] - 1))) as [
          number,
          number,
        ];
        const outputPadding = [0, 1].map((i) => Math.min(extra, c.stride[i]! - 1)) as [number, number];
        // Smaller ones could lose everything to the padding.
        const x = smooth([c.batch, c.inputs * c.groups, 5, 4], s);
        const weight = smooth([c.inputs * c.groups, c.outputs, ...kernel], s + 1);
        const attrs = { stride: c.stride, padding, dilation: c.dilation, groups: c.groups, outputPadding };
        await check('convTranspose2d', attrs, [x, weight, smooth([c.outputs * c.groups], s + 2)]);
      }),
      { numRuns: times(8, 200) },
    );
  });

  test('a large batch is unfolded in parts that add up', async () => {
    /** Gradient of the weight for samples `from` up to `to`. */
    const gradient = async (from: number, to: number) => {
      const g = new Graph();
      const n = to - from;
      const [x, weight] = [g.input('x', [n, 32, 64, 64]), g.input('w', [2, 32, 3, 3])];
      const [y] = emitOp(g, 'conv2d', [x, weight], { padding: 1 }, TRAIN);
      const [d] = gradients(g, y!, [weight], g.input('d', y!.shape));
      const sample = (i: number, channels: number) => numbersOf(smooth([channels, 64, 64], 10 * i + channels));
      const batch = (channels: number) =>
        floats([n, channels, 64, 64], Array.from({ length: n }, (_, i) => sample(from + i, channels)).flat());
      const feeds = { x: batch(32), d: batch(2) };
      return {
        parts: partsOf(d!),
        values: numbersOf((await runGraph(g, { dw: d! }, feeds, { threads: 2, runs: 2 }))['dw']!),
      };
    };
    const [all, first, last] = [await gradient(0, 8), await gradient(0, 4), await gradient(4, 8)];
    expect([all.parts, first.parts]).toEqual([2, 1]);
    const scale = Math.max(...all.values.map(Math.abs));
    all.values.forEach((value, i) =>
      expect(Math.abs(value - first.values[i]! - last.values[i]!)).toBeLessThan(1e-5 * scale),
    );
  });

  test('conv1d', async () => {
    await check('conv1d', { stride: 2, padding: 1, dilation: 2 }, [
      smooth([2, 3, 9], 1),
      smooth([4, 3, 3], 2),
      smooth([4], 3),
    ]);
    await check('conv1d', { groups: 3 }, [smooth([2, 3, 6], 1), smooth([3, 1, 2], 2)]);
  });

  const pool = fc.record({
    kernelSize: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })),
    stride: fc.option(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })), { nil: undefined }),
    padded: fc.boolean(),
    height: fc.integer({ min: 3, max: 7 }),
    width: fc.integer({ min: 3, max: 7 }),
  });
  for (const op of ['maxPool2d', 'avgPool2d'] as const) {
    test(`${op} of any kernel, stride, padding`, async () => {
      await fc.assert(
        fc.asyncProperty(pool, fc.boolean(), seed, async (p, countIncludePad, s) => {
          const padding = p.kernelSize.map((k) => (p.padded ? Math.floor(k / 2) : 0)) as [number, number];
          const attrs = {
            kernelSize: p.kernelSize,
            padding,
            ...(p.stride ? { stride: p.stride } : {}),
            ...(op === 'avgPool2d' ? { countIncludePad } : {}),
          };
          await check(op, attrs, [apart([2, 2, p.height, p.width], s, 0.05)]);
        }),
        { numRuns: times(10, 200) },
      );
    });
  }

  test('adaptiveAvgPool2d, upsample', async () => {
    const sizes: readonly (readonly [number, number])[] = [
      [1, 1],
      [2, 3],
      [3, 2],
      [5, 6],
      [4, 4],
    ];
    for (const outputSize of sizes) await check('adaptiveAvgPool2d', { outputSize }, [smooth([2, 2, 5, 6], 1)]);
    for (const mode of ['nearest', 'bilinear', 'area'] as const) {
      for (const scaleFactor of [2, 1.5, 3, 0.5, 1])
        await check('upsample', { mode, scaleFactor }, [smooth([1, 2, 4, 6], 1)]);
    }
  });
});

describe('ops without gradients', () => {
  test('every op computes in every dtype it allows', async () => {
    const dtypes = ['float32', 'float64', 'int32', 'int64', 'uint8', 'bool'] as const;
    const make = (dtype: HostTensor['dtype'], values: readonly number[], dims: readonly number[]): HostTensor => {
      switch (dtype) {
        case 'float32':
          return { shape: dims, dtype, data: Float32Array.from(values) };
        case 'float64':
          return { shape: dims, dtype, data: Float64Array.from(values) };
        case 'int32':
          return { shape: dims, dtype, data: Int32Array.from(values) };
        case 'int64':
          return longs(dims, values);
        default:
          return { shape: dims, dtype, data: Uint8Array.from(values) };
      }
    };
    const one: readonly (readonly [OpName, unknown])[] = [
      ['neg', {}],
      ['abs', {}],
      ['exp', {}],
      ['log', {}],
      ['sqrt', {}],
      ['rsqrt', {}],
      ['sin', {}],
      ['cos', {}],
      ['erf', {}],
      ['clamp', { min: 0, max: 1 }],
      ['affine', { scale: 2, shift: 1 }],
      ['cast', { dtype: 'uint8' }],
      ['sum', { dim: 0 }],
      ['mean', {}],
      ['amax', { dim: 1 }],
      ['amin', {}],
      ['var', {}],
      ['norm', { dim: 1 }],
      ['argmax', { dim: 1 }],
      ['argmin', {}],
      ['cumsum', { dim: 1 }],
      ['topk', { dim: 1, k: 1 }],
      ['sort', { dim: 0 }],
      ['reshape', { shape: [4] }],
      ['permute', { dims: [1, 0] }],
      ['squeeze', {}],
      ['unsqueeze', { dim: 0 }],
      ['expand', { shape: [3, 2, 2] }],
      ['chunk', { dim: 0, chunks: 2 }],
      ['slice', { ranges: [{ index: 0 }, { step: -1 }] }],
      ['flip', { dims: [0] }],
      ['pad', { pads: [1, 0], value: 1 }],
      ['softmax', { dim: 1 }],
      ['logSoftmax', { dim: 1 }],
      ['logicalNot', {}],
      ['clone', {}],
      ['detach', {}],
      ['pow', { exponent: 2 }],
      ['oneHot', { classes: 3 }],
      ...(
        [
          'relu',
          'gelu',
          'sigmoid',
          'tanh',
          'leaky_relu',
          'elu',
          'silu',
          'mish',
          'selu',
          'prelu',
          'hardswish',
          'softmax',
        ] as const
      ).map((name) => ['activation', { function: name }] as const),
    ];
    const two: readonly OpName[] = [
      'add',
      'sub',
      'mul',
      'div',
      'maximum',
      'minimum',
      'equal',
      'greater',
      'less',
      'logicalAnd',
      'pow',
      'lerp',
      'matmul',
    ];
    const problems: string[] = [];
    const attempt = async (op: OpName, attrs: unknown, inputs: readonly HostTensor[]) => {
      let outputs;
      try {
        outputs = inferOp(op, inputs, attrs as never).outputs;
      } catch {
        return;
      }
      const g = new Graph();
      try {
        const emitted = emitOp(
          g,
          op,
          inputs.map(({ shape: dims, dtype }, i) => g.input(`in${i}`, dims, dtype)),
          attrs,
          TRAIN,
        );
        expect(emitted.map(({ shape: dims, dtype }) => ({ shape: dims, dtype }))).toEqual(outputs);
        const results = await runGraph(
          g,
          Object.fromEntries(emitted.map((value, i) => [`o${i}`, value])),
          Object.fromEntries(inputs.map((input, i) => [`in${i}`, input])),
        );
        expect(Object.values(results).map(({ shape: dims, dtype }) => ({ shape: dims, dtype }))).toEqual(outputs);
      } catch (error) {
        if ((error as { code?: string }).code === 'unsupported') return;
        problems.push(
          `${op} ${JSON.stringify(attrs)} ${inputs.map(({ dtype }) => dtype).join()}: ${String(error).slice(0, 300)}`,
        );
      }
    };
    for (const dtype of dtypes) {
      const x = make(dtype, [1, 0, 1, 1], [2, 2]);
      for (const [op, attrs] of one) await attempt(op, attrs, [x]);
      for (const op of two) for (const other of dtypes) await attempt(op, {}, [x, make(other, [1, 1, 0, 1], [2, 2])]);
      const index = longs([2], [1, 0]);
      await attempt('indexSelect', { dim: 0 }, [x, index]);
      await attempt('gather', { dim: 1 }, [x, longs([2, 1], [1, 0])]);
      await attempt('where', {}, [make('bool', [1, 0], [2]), x, x]);
      await attempt('concat', { dim: 0 }, [x, x]);
      await attempt('full', { shape: [2, 3], value: 1, dtype }, []);
      await attempt('arange', { start: 0, end: 5, step: 2, dtype }, []);
    }
    expect(problems).toEqual([]);
  });
});
