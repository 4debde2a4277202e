import fc from 'fast-check';
import type { DType, Shape } from '../values';
import type { OpName, OpTable, SliceRange } from '../vocabulary';
import { inferOp, normaliseOp, normaliseRange, OPS, rangeLength } from '.';

const f32 = (...shape: number[]) => ({ shape, dtype: 'float32' as DType });
const i64 = (...shape: number[]) => ({ shape, dtype: 'int64' as DType });

function shapeOf<N extends OpName>(
  name: N,
  inputs: readonly { shape: Shape; dtype: DType }[],
  attrs: OpTable[N],
): Shape {
  return inferOp(name, inputs, attrs).outputs[0]!.shape;
}

function dtypeOf<N extends OpName>(
  name: N,
  inputs: readonly { shape: Shape; dtype: DType }[],
  attrs: OpTable[N],
): DType {
  return inferOp(name, inputs, attrs).outputs[0]!.dtype;
}

const size = fc.integer({ min: 1, max: 6 });
const shape = fc.array(size, { maxLength: 4 });

describe('broadcasting', () => {
  it('of a shape with any of its axes set to 1 or dropped in front gives the shape back', () => {
    fc.assert(
      fc.property(shape, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), fc.nat(4), (full, ones, drop) => {
        const part = full.map((value, at) => (ones[at] ? 1 : value)).slice(Math.min(drop, full.length));
        expect(shapeOf('add', [f32(...full), f32(...part)], {})).toEqual(full);
        expect(shapeOf('mul', [f32(...part), f32(...full)], {})).toEqual(full);
      }),
    );
  });

  it('gives exactly the sizes that a naive walk over both index spaces needs', () => {
    fc.assert(
      fc.property(shape, shape, (a, b) => {
        const rank = Math.max(a.length, b.length);
        const at = (s: number[], axis: number) => s[axis - (rank - s.length)] ?? 1;
        const axes = Array.from({ length: rank }, (_, axis) => [at(a, axis), at(b, axis)] as const);
        const fits = axes.every(([x, y]) => x === y || x === 1 || y === 1);
        const run = () => shapeOf('maximum', [f32(...a), f32(...b)], {});
        if (fits) expect(run()).toEqual(axes.map(([x, y]) => Math.max(x, y)));
        else expect(run).toThrow(expect.objectContaining({ code: 'shape_mismatch', op: 'maximum' }));
      }),
    );
  });
});

describe('convolution and pooling', () => {
  /** How many places a window has, by sliding it. */
  function slides(length: number, kernel: number, stride: number, padding: number, dilation: number): number {
    let count = 0;
    for (let start = -padding; start + dilation * (kernel - 1) < length + padding; start += stride) count++;
    return count;
  }

  it('have as many outputs as a window has places', () => {
    const config = fc.record({
      length: fc.integer({ min: 1, max: 20 }),
      kernel: fc.integer({ min: 1, max: 5 }),
      stride: fc.integer({ min: 1, max: 4 }),
      padding: fc.integer({ min: 0, max: 3 }),
      dilation: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(config, ({ length, kernel, stride, padding, dilation }) => {
        const wanted = slides(length, kernel, stride, padding, dilation);
        const run = () =>
          shapeOf('conv2d', [f32(2, 4, length, length), f32(6, 2, kernel, kernel)], {
            stride,
            padding,
            dilation,
            groups: 2,
          });
        if (wanted > 0) expect(run()).toEqual([2, 6, wanted, wanted]);
        else expect(run).toThrow(/Kernel size can't be greater than actual input size/);
        if (padding <= kernel / 2) {
          const places = slides(length, kernel, stride, padding, 1);
          const pool = () =>
            shapeOf('maxPool2d', [f32(2, 4, length, 9)], { kernelSize: [kernel, 1], stride, padding: [padding, 0] });
          if (places > 0) expect(pool()).toEqual([2, 4, places, Math.ceil(9 / stride)]);
          else expect(pool).toThrow(/Output size is too small/);
        }
      }),
    );
  });

  it('a transposed convolution undoes the size of a convolution', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5, max: 20 }), size, fc.integer({ min: 1, max: 3 }), (length, stride, kernel) => {
        const [, , out] = shapeOf('conv2d', [f32(1, 1, length, length), f32(1, 1, kernel, kernel)], { stride });
        const outputPadding = (length - kernel) % stride;
        const back = shapeOf('convTranspose2d', [f32(1, 1, out!, out!), f32(1, 1, kernel, kernel)], {
          stride,
          outputPadding,
        });
        expect(back).toEqual([1, 1, length, length]);
      }),
    );
  });

  it("speaks PyTorch's words", () => {
    expect(() => inferOp('conv2d', [f32(64, 3, 28, 28), f32(32, 1, 3, 3)], {})).toThrow(
      'Given groups=1, weight of size [32, 1, 3, 3], expected input[64, 3, 28, 28] to have 1 channels, but got 3 channels instead',
    );
    expect(() => inferOp('conv2d', [f32(3, 28, 28), f32(32, 1, 3, 3)], {})).toThrow(/Expected 4D input/);
  });
});

describe('reshape and permute', () => {
  it('round trips, with any one size left open', () => {
    fc.assert(
      fc.property(shape, fc.nat(3), (dims, open) => {
        const x = f32(...dims);
        const flat = shapeOf('reshape', [x], { shape: [-1] });
        expect(flat).toEqual([dims.reduce((a, b) => a * b, 1)]);
        const holed = dims.map((value, at) => (at === open ? -1 : value));
        expect(shapeOf('reshape', [f32(...flat)], { shape: holed })).toEqual(dims);
      }),
    );
  });

  it('permuting and permuting back gives the shape back; negative dims are the same dims', () => {
    const shuffled = fc
      .array(size, { minLength: 1, maxLength: 5 })
      .chain((dims) => fc.tuple(fc.constant(dims), fc.shuffledSubarray([...dims.keys()], { minLength: dims.length })));
    fc.assert(
      fc.property(shuffled, ([dims, order]) => {
        const there = shapeOf('permute', [f32(...dims)], { dims: order });
        const inverse = [...order.keys()].map((at) => order.indexOf(at));
        expect(shapeOf('permute', [f32(...there)], { dims: inverse })).toEqual(dims);
        const negative = order.map((at) => at - dims.length);
        expect(normaliseOp('permute', { dims: negative }, [f32(...dims)])).toEqual({ dims: order });
      }),
    );
  });

  it('refuses what does not fit', () => {
    expect(() => inferOp('reshape', [f32(5)], { shape: [2, 3] })).toThrow(
      "shape '[2, 3]' is invalid for input of size 5",
    );
    expect(() => inferOp('reshape', [f32(6)], { shape: [-1, -1] })).toThrow(/only one dimension can be inferred/);
    expect(() => inferOp('permute', [f32(2, 3)], { dims: [0, 0] })).toThrow(/appears multiple times/);
    expect(() => inferOp('unsqueeze', [f32(2)], { dim: 2 })).toThrow(/expected to be in range of \[-2, 1\], but got 2/);
  });
});

describe('slices', () => {
  /** numpy's slice of 0..length-1, element by element (Python's definition of `range(*slice.indices(n))`). */
  function picked(
    length: number,
    { start, stop, step = 1 }: { start?: number; stop?: number; step?: number },
  ): number[] {
    const clip = (value: number, low: number, high: number) => {
      const from = value < 0 ? value + length : value;
      return from < low ? low : from > high ? high : from;
    };
    const [low, high] = step > 0 ? [0, length] : [-1, length - 1];
    let at = start === undefined ? (step > 0 ? low : high) : clip(start, low, high);
    const end = stop === undefined ? (step > 0 ? high : low) : clip(stop, low, high);
    const result: number[] = [];
    for (; step > 0 ? at < end : at > end; at += step) result.push(at);
    return result;
  }

  /** The same walk over a normalised range. */
  function walked(range: { start: number; stop: number; step: number }): number[] {
    return Array.from({ length: rangeLength(range) }, (_, at) => range.start + at * range.step);
  }

  const bound = fc.option(fc.integer({ min: -9, max: 9 }), { nil: undefined });
  const step = fc.integer({ min: -4, max: 4 }).filter((value) => value !== 0);

  it('pick the same elements as a naive implementation', () => {
    fc.assert(
      fc.property(fc.nat(7), bound, bound, step, (length, start, stop, by) => {
        const range: SliceRange = {
          step: by,
          ...(start === undefined ? {} : { start }),
          ...(stop === undefined ? {} : { stop }),
        };
        const normal = normaliseRange(range, length, 0) as { start: number; stop: number; step: number };
        const wanted = picked(length, range);
        expect(rangeLength(normal)).toBe(wanted.length);
        if (wanted.length) expect(walked(normal)).toEqual(wanted);
        expect(shapeOf('slice', [f32(length, 2)], { ranges: [range] })).toEqual([wanted.length, 2]);
        expect(normaliseRange(normal, length, 0)).toEqual(normal);
      }),
      { numRuns: 500 },
    );
  });

  it('an index drops its axis; missing ranges take everything', () => {
    expect(shapeOf('slice', [f32(4, 5, 6)], { ranges: [{ index: -1 }, { start: 1 }] })).toEqual([4, 6]);
    expect(() => inferOp('slice', [f32(3)], { ranges: [{ index: 3 }] })).toThrow(
      'index 3 is out of bounds for dimension 0 with size 3',
    );
  });
});

describe('joining and splitting', () => {
  it('chunks joined again give the shape back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }), (length, chunks) => {
        const parts = inferOp('chunk', [f32(3, length)], { dim: -1, chunks }).outputs;
        expect(parts.length).toBeLessThanOrEqual(chunks);
        expect(shapeOf('concat', parts, { dim: 1 })).toEqual([3, length]);
        expect(new Set(parts.slice(0, -1).map((part) => part.shape[1])).size).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('stack adds the axis that an index takes away', () => {
    fc.assert(
      fc.property(shape, fc.integer({ min: 1, max: 4 }), fc.nat(4), (dims, count, place) => {
        const dim = Math.min(place, dims.length);
        const stacked = shapeOf(
          'stack',
          Array.from({ length: count }, () => f32(...dims)),
          { dim },
        );
        expect(stacked).toHaveLength(dims.length + 1);
        const ranges = stacked.map((_, at): SliceRange => (at === dim ? { index: 0 } : {}));
        expect(shapeOf('slice', [f32(...stacked)], { ranges })).toEqual(dims);
      }),
    );
  });
});

describe('reductions', () => {
  it('with keepdim broadcast back onto their input', () => {
    fc.assert(
      fc.property(fc.array(size, { minLength: 1, maxLength: 4 }), fc.nat(3), (dims, pick) => {
        const dim = pick % dims.length;
        const kept = shapeOf('mean', [f32(...dims)], { dim: dim - dims.length, keepdim: true });
        expect(shapeOf('sub', [f32(...dims), f32(...kept)], {})).toEqual(dims);
        expect(shapeOf('sum', [f32(...dims)], { dim: [dim] })).toEqual(dims.filter((_, at) => at !== dim));
        expect(shapeOf('amax', [f32(...dims)], {})).toEqual([]);
      }),
    );
  });

  it('of matrices: matmul follows vectors, matrices and stacks', () => {
    expect(shapeOf('matmul', [f32(3), f32(3)], {})).toEqual([]);
    expect(shapeOf('matmul', [f32(3), f32(3, 4)], {})).toEqual([4]);
    expect(shapeOf('matmul', [f32(2, 3), f32(3)], {})).toEqual([2]);
    expect(shapeOf('matmul', [f32(5, 1, 2, 3), f32(6, 3, 4)], {})).toEqual([5, 6, 2, 4]);
    expect(() => inferOp('matmul', [f32(4, 3), f32(5, 6)], {})).toThrow(
      'mat1 and mat2 shapes cannot be multiplied (4x3 and 5x6)',
    );
  });
});

describe('dtypes', () => {
  it("are promoted as PyTorch's are", () => {
    expect(dtypeOf('add', [i64(2), { shape: [2], dtype: 'int32' }], {})).toBe('int64');
    expect(dtypeOf('add', [i64(2), f32()], {})).toBe('float32');
    expect(dtypeOf('mul', [{ shape: [2], dtype: 'int32' }, i64()], {})).toBe('int32');
    expect(dtypeOf('mul', [f32(2), { shape: [], dtype: 'float64' }], {})).toBe('float32');
    expect(dtypeOf('div', [i64(2), i64(2)], {})).toBe('float32');
    expect(dtypeOf('sum', [{ shape: [2], dtype: 'bool' }], {})).toBe('int64');
    expect(dtypeOf('greater', [i64(2), f32(2)], {})).toBe('bool');
    expect(dtypeOf('argmax', [f32(2, 3)], { dim: 1 })).toBe('int64');
    expect(dtypeOf('affine', [{ shape: [2], dtype: 'uint8' }], { scale: 1 / 255 })).toBe('float32');
    expect(() => inferOp('mean', [i64(2)], {})).toThrow(/Input dtype must be floating point/);
    expect(() => inferOp('where', [f32(2), f32(2), f32(2)], {})).toThrow(/condition to be a bool tensor/);
  });
});

describe('attributes', () => {
  it("have PyTorch's defaults, pairs and dims, and normalising again changes nothing", () => {
    const image = f32(2, 4, 8, 8);
    const weight = f32(6, 2, 3, 3);
    const cases: readonly [OpName, readonly { shape: Shape; dtype: DType }[], object, object][] = [
      ['maxPool2d', [image], { kernelSize: 2 }, { kernelSize: [2, 2], stride: [2, 2], padding: [0, 0] }],
      [
        'avgPool2d',
        [image],
        { kernelSize: [2, 3], stride: 1 },
        { kernelSize: [2, 3], stride: [1, 1], padding: [0, 0], countIncludePad: true },
      ],
      ['conv2d', [image, weight], { groups: 2 }, { stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 2 }],
      ['add', [image, image], {}, { alpha: 1 }],
      ['activation', [image], { function: 'leaky_relu' }, { function: 'leaky_relu', slope: 0.01 }],
      ['sum', [image], { dim: -1 }, { dim: [3], keepdim: false }],
      ['sum', [image], {}, { dim: [0, 1, 2, 3], keepdim: false }],
      ['argmax', [image], {}, { dim: null, keepdim: false }],
      ['pow', [image, image], {}, { exponent: null }],
      ['squeeze', [f32(1, 3, 1)], {}, { dims: [0, 2] }],
      ['squeeze', [f32(1, 3, 1)], { dim: 1 }, { dims: [] }],
      ['softmax', [image], { dim: -1 }, { dim: 3 }],
      ['reshape', [image], { shape: [2, -1] }, { shape: [2, 256] }],
      ['expand', [f32(1, 3)], { shape: [4, -1, -1] }, { shape: [4, 1, 3] }],
      ['conv1d', [f32(1, 2, 9), f32(4, 2, 3)], { stride: [2] }, { stride: 2, padding: 0, dilation: 1, groups: 1 }],
      [
        'loss',
        [f32(4, 3), i64(4)],
        { type: 'CrossEntropy' },
        { type: 'CrossEntropy', reduction: 'mean', labelSmoothing: 0, ignoreIndex: -100 },
      ],
    ];
    for (const [name, inputs, attrs, wanted] of cases) {
      const once = normaliseOp(name, attrs as OpTable[OpName], inputs);
      expect({ name, attrs: once }).toEqual({ name, attrs: wanted });
      expect(normaliseOp(name, once as OpTable[OpName], inputs)).toEqual(once);
    }
  });

  it('that are unknown or wrong are named, with what is known', () => {
    expect(() => inferOp('conv2d', [f32(1, 1, 4, 4), f32(1, 1, 3, 3)], { strides: 2 } as object)).toThrow(
      /conv2d got an unexpected argument 'strides'; it knows: stride, padding, dilation, groups/,
    );
    expect(() => inferOp('dropout', [f32(2)], { p: 1.5 })).toThrow('dropout: p must be at most 1, got 1.5');
    expect(() => inferOp('add', [f32(2)], {})).toThrow('add takes 2 inputs, got 1');
    expect(() => inferOp('relu' as OpName, [f32(2)], {})).toThrow(expect.objectContaining({ code: 'unsupported' }));
  });
});

describe('the table of ops', () => {
  it('marks the ops that draw random numbers', () => {
    const random = Object.entries(OPS).filter(([, def]) => def.random);
    expect(random.map(([name]) => name).sort()).toEqual(['dropout', 'rand', 'randint', 'randn', 'randperm']);
  });
});
