import {
  inferLoss,
  inferModule,
  moduleIsRandom,
  moduleOrder,
  normaliseLoss,
  normaliseOptimizer,
  validateModule,
} from './specs';
import type { LossSpec, ModuleSpec, OptimizerSpec } from './vocabulary';

const f32 = (...shape: number[]) => ({ shape, dtype: 'float32' as const });
const i64 = (...shape: number[]) => ({ shape, dtype: 'int64' as const });
const linear = { in_features: 4, out_features: 4 };

function chain(...froms: readonly (readonly string[])[]): ModuleSpec {
  return {
    inputs: ['x'],
    outputs: [{ port: 'y', from: { node: `n${froms.length - 1}` } }],
    nodes: froms.map((from, at) => ({
      id: `n${at}`,
      layer: from.length > 1 ? 'Add' : 'Linear',
      params: from.length > 1 ? {} : linear,
      from: from.map((id) => (id === 'x' ? { input: 'x' } : { node: id })),
    })),
  };
}

describe('modules', () => {
  it('are ordered by their sources, not by their place in the file', () => {
    const spec = chain(['n1'], ['x'], ['n0', 'n1']);
    expect(moduleOrder(spec).map(({ id }) => id)).toEqual(['n1', 'n0', 'n2']);
    expect(inferModule(spec, { x: f32(3, 4) }, 'eval')).toEqual({ y: f32(3, 4) });
  });

  it('may be deeper than the call stack', () => {
    const nodes = Array.from({ length: 20_000 }, (_, at) => [at === 0 ? 'x' : `n${at - 1}`]).reverse();
    const spec = chain(...nodes);
    const renamed = {
      ...spec,
      nodes: spec.nodes.map((node, at) => ({ ...node, id: `n${19_999 - at}`, layer: 'ReLU', params: {} })),
    };
    expect(moduleOrder(renamed)[0]!.id).toBe('n0');
  });

  it('with a cycle, an unknown source or a bad layer are refused with the node', () => {
    expect(() => validateModule(chain(['n1'], ['n0']))).toThrow(/cycle: n0 -> n1 -> n0/);
    expect(() => validateModule(chain(['ghost']))).toThrow(
      /Linear 'n0' takes output 0 of node 'ghost', but there is no such node/,
    );
    const spec = chain(['x']);
    expect(() => validateModule({ ...spec, outputs: [] })).toThrow(/at least one output/);
    expect(() => validateModule({ ...spec, outputs: [{ port: 'y', from: { input: 'z' } }] })).toThrow(/no such input/);
    expect(() => validateModule({ ...spec, nodes: [spec.nodes[0]!, spec.nodes[0]!] })).toThrow(/two nodes named 'n0'/);
    expect(() =>
      validateModule({ ...spec, nodes: [{ id: 'n0', layer: 'Linear', params: {}, from: [{ input: 'x' }] }] }),
    ).toThrow(/Linear 'n0': in_features is missing/);
    expect(() => validateModule({ ...spec, nodes: [{ id: 'n0', layer: 'Linear', params: linear, from: [] }] })).toThrow(
      /takes 1 input, got 0/,
    );
  });

  it('take exactly their input ports and name the node where shapes do not fit', () => {
    const spec = chain(['x']);
    expect(() => inferModule(spec, {}, 'eval')).toThrow(/missing: x/);
    expect(() => inferModule(spec, { x: f32(1, 4), z: f32(1) }, 'eval')).toThrow(/unknown: z/);
    expect(() => inferModule(spec, { x: f32(1, 5) }, 'eval')).toThrow(
      expect.objectContaining({ code: 'shape_mismatch', op: 'Linear' }),
    );
  });

  it('know whether a pass draws random numbers', () => {
    const dropout = (params: object): ModuleSpec => ({
      inputs: ['x'],
      outputs: [{ port: 'y', from: { node: 'd' } }],
      nodes: [{ id: 'd', layer: 'Dropout', params: { ...params }, from: [{ input: 'x' }] }],
    });
    expect(moduleIsRandom(dropout({}), 'train')).toBe(true);
    expect(moduleIsRandom(dropout({}), 'eval')).toBe(false);
    expect(moduleIsRandom(dropout({ p: 0 }), 'train')).toBe(false);
  });
});

describe('losses', () => {
  it('infer their shape by reduction', () => {
    expect(inferLoss([f32(4, 3), i64(4)], { type: 'CrossEntropy' })).toEqual([f32()]);
    expect(inferLoss([f32(4, 3, 5), i64(4, 5)], { type: 'CrossEntropy', reduction: 'none' })).toEqual([f32(4, 5)]);
    expect(inferLoss([f32(4, 3), f32(4, 3)], { type: 'CrossEntropy' })).toEqual([f32()]);
    expect(inferLoss([f32(4, 1), f32(4)], { type: 'MSE', reduction: 'none' })).toEqual([f32(4, 4)]);
    expect(inferLoss([f32(4), f32(4)], { type: 'BCEWithLogits', posWeight: [2] })).toEqual([f32()]);
  });

  it("refuse what does not fit in PyTorch's words", () => {
    expect(() => inferLoss([f32(4, 3), i64(3)], { type: 'CrossEntropy' })).toThrow(
      'Expected input batch_size (4) to match target batch_size (3).',
    );
    expect(() => inferLoss([f32(4, 3), i64(4)], { type: 'CrossEntropy', weight: [1, 1] })).toThrow(
      /all 3 classes or no classes but got 2/,
    );
    expect(() => inferLoss([f32(4, 1), f32(4)], { type: 'BCEWithLogits' })).toThrow(
      'Target size ([4]) must be the same as input size ([4, 1])',
    );
    expect(() => inferLoss([f32(16, 4), f32(16)], { type: 'MSE' })).toThrow(
      /^MSE compares the output \[16, 4\] with the target \[16\].*cannot broadcast/,
    );
    expect(() => inferLoss([f32(4)], { type: 'MSE' })).toThrow(/needs an output and a target/);
  });

  it('refuse each argument where it does not apply, and later losses by name', () => {
    expect(() => normaliseLoss({ type: 'MSE', labelSmoothing: 0.1 })).toThrow(
      'argument labelSmoothing does not apply to the loss MSE',
    );
    expect(() => normaliseLoss({ type: 'CrossEntropy', posWeight: [1] })).toThrow(/posWeight does not apply/);
    expect(() => normaliseLoss({ type: 'CrossEntropy', reduction: 'batchmean' })).toThrow(
      /must be one of mean, sum, none/,
    );
    expect(() => normaliseLoss({ type: 'Huber' })).toThrow(expect.objectContaining({ code: 'unsupported' }));
    expect(() => normaliseLoss({ type: 'Hinge' } as unknown as LossSpec)).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });
});

describe('optimisers', () => {
  it("have PyTorch's defaults", () => {
    expect(normaliseOptimizer({ type: 'SGD', lr: 0.1 })).toEqual({
      type: 'SGD',
      lr: 0.1,
      momentum: 0,
      dampening: 0,
      nesterov: false,
      weightDecay: 0,
    });
    const adam = { lr: 1e-3, betas: [0.9, 0.999], eps: 1e-8, amsgrad: false };
    expect(normaliseOptimizer({ type: 'Adam', lr: 1e-3 })).toEqual({ type: 'Adam', weightDecay: 0, ...adam });
    expect(normaliseOptimizer({ type: 'AdamW', lr: 1e-3 })).toEqual({ type: 'AdamW', weightDecay: 0.01, ...adam });
  });

  it('refuse each argument where it does not apply', () => {
    expect(() => normaliseOptimizer({ type: 'Adam', lr: 1, momentum: 0.9 })).toThrow(
      'argument momentum does not apply to the optimizer Adam',
    );
    expect(() => normaliseOptimizer({ type: 'SGD', lr: 1, nesterov: true })).toThrow(/requires a momentum/);
    expect(() => normaliseOptimizer({ type: 'Adam', lr: 1, betas: [0.9, 1] })).toThrow(/betas/);
    expect(() => normaliseOptimizer({ type: 'SGD' } as unknown as OptimizerSpec)).toThrow(/lr is missing/);
    expect(() => normaliseOptimizer({ type: 'Rprop', lr: 1 })).toThrow(
      expect.objectContaining({ code: 'unsupported' }),
    );
  });
});
