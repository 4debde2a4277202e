import fc from 'fast-check';
import type { DType } from '../values';
import { moduleParameters, moduleWeights, singleLayer, inferModule } from '../specs';
import { inferOp } from '../ops';
import { layerDef } from '.';

const f32 = (...shape: number[]) => ({ shape, dtype: 'float32' as DType });

function run(
  name: string,
  params: Record<string, unknown>,
  ...inputs: readonly { shape: readonly number[]; dtype: DType }[]
) {
  const def = layerDef(name);
  return def.infer(inputs, def.normalise(params)).map(({ shape }) => shape);
}

function weights(name: string, params: Record<string, unknown>) {
  const def = layerDef(name);
  return def.weights(def.normalise(params));
}

describe('weights', () => {
  it("have PyTorch's names, shapes and bounds", () => {
    expect(weights('Linear', { in_features: 4, out_features: 3 })).toEqual([
      { name: 'weight', shape: [3, 4], dtype: 'float32', trainable: true, init: { kind: 'uniform', bound: 0.5 } },
      { name: 'bias', shape: [3], dtype: 'float32', trainable: true, init: { kind: 'uniform', bound: 0.5 } },
    ]);
    const conv = weights('Conv2d', { in_channels: 4, out_channels: 6, kernel_size: [1, 2], groups: 2, bias: false });
    expect(conv).toEqual([
      { name: 'weight', shape: [6, 2, 1, 2], dtype: 'float32', trainable: true, init: { kind: 'uniform', bound: 0.5 } },
    ]);
    expect(weights('Embedding', { num_embeddings: 5, embedding_dim: 2, padding_idx: -1 })[0]!.init).toEqual({
      kind: 'normal',
      std: 1,
      zeroRow: 4,
    });
    const attention = weights('MultiHeadAttention', { embed_dim: 6, num_heads: 2 });
    expect(attention.map(({ name, shape, init }) => [name, shape, init])).toEqual([
      ['in_proj_weight', [18, 6], { kind: 'uniform', bound: 0.5 }],
      ['in_proj_bias', [18], { kind: 'zeros' }],
      ['out_proj.weight', [6, 6], { kind: 'uniform', bound: 1 / Math.sqrt(6) }],
      ['out_proj.bias', [6], { kind: 'zeros' }],
    ]);
    expect(
      weights('BatchNorm2d', { num_features: 3 }).map(({ name, dtype, trainable }) => [name, dtype, trainable]),
    ).toEqual([
      ['weight', 'float32', true],
      ['bias', 'float32', true],
      ['running_mean', 'float32', false],
      ['running_var', 'float32', false],
      ['num_batches_tracked', 'int64', false],
    ]);
    expect(weights('PReLU', {})[0]!.init).toEqual({ kind: 'constant', value: 0.25 });
    expect(weights('LayerNorm', { normalized_shape: 4, elementwise_affine: false })).toEqual([]);
  });

  it('get full names in a module, nested ones too', () => {
    const inner = singleLayer('Linear', { in_features: 2, out_features: 2 }, { id: 'fc' });
    const spec = {
      inputs: ['x'],
      outputs: [{ port: 'y', from: { node: 'block' } }],
      nodes: [{ id: 'block', module: inner, from: [{ input: 'x' }] }],
    };
    expect(moduleParameters(spec).map(({ name }) => name)).toEqual(['block.fc.weight', 'block.fc.bias']);
    expect(moduleWeights(spec)[0]!.init).toEqual({ kind: 'uniform', bound: 1 / Math.sqrt(2) });
  });
});

describe('shapes', () => {
  it('of each layer, and PyTorch-worded refusals', () => {
    expect(run('Linear', { in_features: 4, out_features: 3 }, f32(2, 5, 4))).toEqual([[2, 5, 3]]);
    expect(() => run('Linear', { in_features: 4, out_features: 3 }, f32(2, 5))).toThrow(
      /mat1 and mat2 shapes cannot be multiplied \(2x5 and 4x3\)/,
    );
    expect(run('Flatten', {}, f32(2, 3, 4))).toEqual([[2, 12]]);
    expect(run('Flatten', { start_dim: 0, end_dim: 1 }, f32(2, 3, 4))).toEqual([[6, 4]]);
    expect(run('Reshape', { shape: '3, -1' }, f32(2, 12))).toEqual([[2, 3, 4]]);
    expect(() => run('Reshape', { shape: '5,-1' }, f32(2, 12))).toThrow(
      /shape '\[2, 5, -1\]' is invalid for input of size 24/,
    );
    expect(run('SelectIndex', {}, f32(2, 7, 3))).toEqual([[2, 3]]);
    expect(run('AdaptiveAvgPool2d', { output_size: [null, 1] }, f32(2, 3, 8, 9))).toEqual([[2, 3, 8, 1]]);
    expect(run('AvgPool2d', { kernel_size: 3, stride: 2, padding: 1 }, f32(1, 1, 7, 8))).toEqual([[1, 1, 4, 4]]);
    expect(run('Embedding', { num_embeddings: 5, embedding_dim: 2 }, { shape: [3, 4], dtype: 'int64' })).toEqual([
      [3, 4, 2],
    ]);
    expect(() => run('Embedding', { num_embeddings: 5, embedding_dim: 2 }, f32(3))).toThrow(
      /indices of dtype int64 or int32/,
    );
    expect(run('LayerNorm', { normalized_shape: [3, 4] }, f32(2, 3, 4))).toEqual([[2, 3, 4]]);
    expect(() => run('LayerNorm', { normalized_shape: 5 }, f32(2, 3, 4))).toThrow(
      /expected input with shape \[\*, 5\]/,
    );
    expect(run('BatchNorm1d', { num_features: 3 }, f32(2, 3, 9))).toEqual([[2, 3, 9]]);
    expect(run('Mean', {}, f32(2, 3), f32(2, 3))).toEqual([[2, 3]]);
    expect(run('Concat', {}, f32(2, 3), f32(2, 1))).toEqual([[2, 4]]);
    expect(run('Stack', {}, f32(2, 3), f32(2, 3))).toEqual([[2, 2, 3]]);
    expect(run('Add', {}, f32(2, 3), f32(3), f32(1))).toEqual([[2, 3]]);
  });

  it('of attention: self or query, key, value; the weights are averaged over the heads', () => {
    const params = { embed_dim: 8, num_heads: 2 };
    expect(run('MultiHeadAttention', params, f32(5, 2, 8))).toEqual([
      [5, 2, 8],
      [2, 5, 5],
    ]);
    expect(
      run('MultiHeadAttention', { ...params, batch_first: true }, f32(2, 5, 8), f32(2, 7, 8), f32(2, 7, 8)),
    ).toEqual([
      [2, 5, 8],
      [2, 5, 7],
    ]);
    expect(() => run('MultiHeadAttention', params, f32(5, 2, 8), f32(7, 3, 8))).toThrow(/same batch size/);
    expect(() => layerDef('MultiHeadAttention').normalise({ embed_dim: 7, num_heads: 2 })).toThrow(
      /divisible by num_heads/,
    );
  });

  it('of one value per channel are refused in training only', () => {
    const spec = singleLayer('BatchNorm1d', { num_features: 3 });
    expect(inferModule(spec, { x: f32(1, 3) }, 'eval')).toEqual({ y: f32(1, 3) });
    expect(() => inferModule(spec, { x: f32(1, 3) }, 'train')).toThrow(
      /BatchNorm1d: Expected more than 1 value per channel when training, got input size \[1, 3\]/,
    );
  });

  it("a convolution with padding 'same' keeps the size, whatever kernel and dilation", () => {
    const dim = fc.integer({ min: 1, max: 5 });
    fc.assert(
      fc.property(dim, dim, dim, (kernel, dilation, extra) => {
        const size = kernel * dilation + extra;
        const params = { in_channels: 1, out_channels: 2, kernel_size: kernel, dilation, padding: 'same' };
        expect(run('Conv2d', params, f32(1, 1, size, size + 1))).toEqual([[1, 2, size, size + 1]]);
      }),
    );
  });

  it('of Conv2d are those of the op with the same numbers', () => {
    const small = fc.integer({ min: 1, max: 3 });
    fc.assert(
      fc.property(small, small, small, fc.nat(3), (kernel, stride, dilation, padding) => {
        const params = { in_channels: 2, out_channels: 4, kernel_size: kernel, stride, dilation, padding };
        const op = inferOp('conv2d', [f32(1, 2, 12, 9), f32(4, 2, kernel, kernel)], { stride, dilation, padding });
        expect(run('Conv2d', params, f32(1, 2, 12, 9))).toEqual([op.outputs[0]!.shape]);
      }),
    );
  });
});

describe('arguments', () => {
  it('unknown ones are named with the known ones; missing ones too', () => {
    expect(() => layerDef('Linear').normalise({ in_features: 1, out_features: 1, units: 3 })).toThrow(
      "Linear got an unexpected argument 'units'; it knows: in_features, out_features, bias",
    );
    expect(() => layerDef('Linear').normalise({ in_features: 1 })).toThrow('Linear: out_features is missing');
    expect(() => layerDef('Dropout').normalise({ p: 2 })).toThrow('Dropout: p must be at most 1, got 2');
    expect(() => layerDef('Conv2d').normalise({ in_channels: 3, out_channels: 4, kernel_size: 3, groups: 2 })).toThrow(
      /in_channels must be divisible by groups/,
    );
  });

  it('that exist in PyTorch but not here are unsupported, not unknown', () => {
    const conv = { in_channels: 1, out_channels: 1, kernel_size: 3 };
    const unsupported = expect.objectContaining({ code: 'unsupported' });
    expect(() => layerDef('Conv2d').normalise({ ...conv, padding_mode: 'reflect' })).toThrow(unsupported);
    expect(() => layerDef('MaxPool2d').normalise({ kernel_size: 2, ceil_mode: true })).toThrow(unsupported);
    expect(() => layerDef('BatchNorm2d').normalise({ num_features: 2, track_running_stats: false })).toThrow(
      unsupported,
    );
    expect(layerDef('ReLU').normalise({ inplace: true })).toEqual({});
  });

  it('unknown layers are told apart from those of PyTorch that are not there', () => {
    expect(() => layerDef('LSTM')).toThrow(
      expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('LSTM') }),
    );
    expect(() => layerDef('Liner')).toThrow(
      expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining('Linear') }),
    );
  });
});
