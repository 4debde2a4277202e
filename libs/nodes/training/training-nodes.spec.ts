import type { NodeResult, PortValue } from '@cdui/node-sdk';
import type { ModuleRef, OptimizerRef } from '@cdui/tensor/runtime';
import { NodeRunner, tensor, type NodeCase } from '../testing/run-node';
import { sequentialModelNode } from './sequential-model';
import { trainingLoopNode } from './training-loop';

let runner: NodeRunner;
beforeAll(async () => {
  runner = await NodeRunner.open();
});
afterAll(() => runner.close());

const LINEAR = JSON.stringify([{ type: 'Linear', in_features: 2, out_features: 2 }]);

/** Runs a node and hands one of its outputs on while it is alive. */
async function using<T>(
  type: string,
  port: string,
  options: NodeCase,
  use: (value: T & PortValue) => Promise<void>,
): Promise<void> {
  await runner.runNode(type, {
    ...options,
    inspect: (_, result: NodeResult) => use(result.outputs[port] as T & PortValue),
  });
}

const lossOf = async (params: Readonly<Record<string, unknown>>): Promise<unknown> =>
  ((await runner.runNode('Loss', { params })).outputs['loss_fn'] as { spec: unknown }).spec;

describe('Loss', () => {
  it('names the loss as the runtime does, with what is not default', async () => {
    expect(await lossOf({})).toEqual({ type: 'CrossEntropy', reduction: 'mean' });
    expect(await lossOf({ type: 'MSELoss', reduction: 'sum' })).toEqual({ type: 'MSE', reduction: 'sum' });
    expect(await lossOf({ label_smoothing: 0.1, weight: '1, 5', ignore_index: 3 })).toEqual({
      type: 'CrossEntropy',
      reduction: 'mean',
      labelSmoothing: 0.1,
      weight: [1, 5],
      ignoreIndex: 3,
    });
    expect(await lossOf({ type: 'BCEWithLogitsLoss', pos_weight: '2' })).toEqual({
      type: 'BCEWithLogits',
      reduction: 'mean',
      posWeight: [2],
    });
  });

  it.each([
    [{ type: 'MSELoss', label_smoothing: 0.1 }, /"label_smoothing" applies to CrossEntropyLoss only/],
    [{ type: 'MSELoss', weight: '1' }, /"weight" applies to CrossEntropyLoss and BCEWithLogitsLoss only/],
    [{ type: 'BCEWithLogitsLoss', ignore_index: 0 }, /"ignore_index" applies to/],
    [{ pos_weight: '1' }, /"pos_weight" applies to/],
    [{ type: 'HuberLoss' }, /must be one of CrossEntropyLoss, MSELoss, BCEWithLogitsLoss/],
    [{ weight: '1, x' }, /"weight" must be numbers separated by commas/],
  ])('refuses %j', async (params, message) => {
    await expect(lossOf(params)).rejects.toThrow(message);
  });
});

describe('SequentialModel', () => {
  it('builds the layers and counts their parameters', async () => {
    const { log } = await runner.runNode('SequentialModel', { params: { layers: LINEAR } });
    expect(log).toEqual(['6 parameters']);
  });

  it('says before the run what is wrong with the layers', () => {
    const check = (layers: unknown) =>
      sequentialModelNode.check!({ layers }, 'net').map(({ code, node_id }) => [code, node_id]);
    expect(check(LINEAR)).toEqual([]);
    expect(check('{')).toEqual([['invalid_layers', 'net']]);
    expect(check('[{"type":"Lineal"},{"type":"Linear"}]')).toEqual([
      ['invalid_layers', 'net'],
      ['invalid_layers', 'net'],
    ]);
  });

  it('needs layers', async () => {
    await expect(runner.runNode('SequentialModel')).rejects.toThrow(/"layers" must describe the layers/);
  });
});

describe('Optimizer', () => {
  const specOf = async (params: Readonly<Record<string, unknown>>): Promise<unknown> => {
    let spec: unknown;
    await using<ModuleRef>('SequentialModel', 'model', { params: { layers: LINEAR } }, (model) =>
      using<OptimizerRef>(
        'Optimizer',
        'optimizer',
        { inputs: { model }, params },
        async (optimizer) => void (spec = optimizer.spec),
      ),
    );
    return spec;
  };

  it('hands on what is not default', async () => {
    expect(await specOf({})).toEqual({ type: 'Adam', lr: 0.001, weightDecay: 0 });
    expect(await specOf({ type: 'SGD', lr: 0.1, momentum: 0.9, nesterov: true })).toEqual({
      type: 'SGD',
      lr: 0.1,
      weightDecay: 0,
      momentum: 0.9,
      nesterov: true,
    });
    expect(await specOf({ type: 'AdamW', betas: '0.8, 0.99', eps: 1e-6, amsgrad: true, weight_decay: 0.1 })).toEqual({
      type: 'AdamW',
      lr: 0.001,
      weightDecay: 0.1,
      betas: [0.8, 0.99],
      eps: 1e-6,
      amsgrad: true,
    });
  });

  it('warns of a rate at which nothing is learnt', async () => {
    const warningsAt = (lr: number) => {
      let warnings: readonly string[] = [];
      return using<ModuleRef>('SequentialModel', 'model', { params: { layers: LINEAR } }, async (model) => {
        const report = await runner.runNode('Optimizer', { inputs: { model }, params: { lr } });
        warnings = report.warnings.map(({ detail }) => String(detail));
      }).then(() => warnings);
    };
    expect(await warningsAt(0)).toEqual([expect.stringMatching(/rate lr is 0.*choose one above 0/)]);
    expect(await warningsAt(0.1)).toEqual([]);
  });

  it.each([
    [{ momentum: 0.9 }, /"momentum" applies to SGD only/],
    [{ type: 'SGD', amsgrad: true }, /"amsgrad" applies to Adam and AdamW only/],
    [{ type: 'SGD', betas: '0.5, 0.5' }, /"betas" applies to/],
    [{ betas: '0.9' }, /"betas" must be two numbers/],
    [{ betas: '0.9, 1' }, /"betas" must be two numbers/],
    [{ type: 'SGD', nesterov: true }, /"nesterov" needs a momentum/],
    [{ type: 'Rprop' }, /must be one of Adam, SGD, AdamW/],
    [{ lr: -1 }, /"lr" must be at least 0/],
  ])('refuses %j', async (params, message) => {
    await expect(specOf(params)).rejects.toThrow(message);
  });
});

describe('LRScheduler', () => {
  it('gives the numbers of its schedule', async () => {
    await using<ModuleRef>('SequentialModel', 'model', { params: { layers: LINEAR } }, (model) =>
      using<OptimizerRef>('Optimizer', 'optimizer', { inputs: { model } }, async (optimizer) => {
        const run = async (params: Readonly<Record<string, unknown>>) =>
          (await runner.runNode('LRScheduler', { inputs: { optimizer }, params })).outputs['scheduler'];
        expect(await run({})).toEqual({ kind: 'scheduler', type: 'StepLR', params: { step_size: 10, gamma: 0.1 } });
        expect(await run({ type: 'CosineAnnealingLR', T_max: 3 })).toEqual({
          kind: 'scheduler',
          type: 'CosineAnnealingLR',
          params: { T_max: 3 },
        });
        await expect(run({ step_size: 0 })).rejects.toThrow(/step_size is 0/);
        await expect(run({ type: 'OneCycleLR' })).rejects.toThrow(/must be one of StepLR, CosineAnnealingLR/);
      }),
    );
  });
});

/** Points of two classes that a line separates, a model, and everything to train it. */
async function withParts(
  params: { lr: number; type?: string },
  use: (parts: Readonly<Record<string, PortValue>>, dataset: PortValue) => Promise<void>,
): Promise<void> {
  const points = Array.from({ length: 40 }, (_, i) => [Math.cos(i) + (i % 2) * 3, Math.sin(i * 1.7)]);
  const inputs = { features: tensor(points), labels: points.map((_, i) => String(i % 2)) };
  await using('TensorDataset', 'dataset', { inputs }, (dataset) =>
    using('DataLoader', 'dataloader', { inputs: { dataset }, params: { batch_size: 8 }, seed: 3 }, (dataloader) =>
      using('SequentialModel', 'model', { params: { layers: LINEAR }, seed: 5 }, (model) =>
        using('Optimizer', 'optimizer', { inputs: { model }, params }, (optimizer) =>
          use({ dataloader, model, optimizer, loss_fn: { kind: 'loss', spec: { type: 'CrossEntropy' } } }, dataset),
        ),
      ),
    ),
  );
}

const accuracyOf = async (model: PortValue, dataset: PortValue) =>
  (await runner.runNode('EvaluateModel', { inputs: { model, dataset }, params: { batch_size: 16 } })).outputs;

describe('EvaluateModel', () => {
  it('counts right answers over all rows', async () => {
    await withParts({ lr: 0.1 }, async ({ model }, dataset) => {
      const outputs = await accuracyOf(model!, dataset);
      expect(outputs['total']).toBe(40);
      expect(outputs['accuracy']).toBe((outputs['correct'] as number) / 40);
      const again = await runner.runNode('EvaluateModel', {
        inputs: { model: model!, dataset },
        params: { batch_size: 40 },
      });
      expect(again.outputs).toEqual(outputs);
    });
  });

  it('needs labels', async () => {
    await using('TensorDataset', 'dataset', { inputs: { features: tensor([[1, 2]]) } }, (dataset) =>
      using('SequentialModel', 'model', { params: { layers: LINEAR } }, async (model) => {
        await expect(runner.runNode('EvaluateModel', { inputs: { model, dataset } })).rejects.toThrow(
          /a data set with labels/,
        );
      }),
    );
  });
});

describe('TrainingLoop on the embedded runtime', () => {
  it('learns, and learns nothing with a learning rate of 0', async () => {
    for (const [lr, learns] of [
      [0.1, true],
      [0, false],
    ] as const) {
      await withParts({ lr }, async (parts, dataset) => {
        const before = await accuracyOf(parts['model']!, dataset);
        const { outputs } = await runner.runNode('TrainingLoop', { inputs: parts, params: { epochs: 20 } });
        const losses = (outputs['losses'] as { values: number[] }).values;
        expect(losses).toHaveLength(20);
        const after = await accuracyOf(parts['model']!, dataset);
        expect(losses.at(-1)! < losses[0]! / 2).toBe(learns);
        if (learns) expect(after['accuracy']).toBeGreaterThanOrEqual(0.95);
        else expect(after).toEqual(before);
      });
    }
  });

  const lossesOf = async (params: Readonly<Record<string, unknown>>, batchSize?: number): Promise<number[]> => {
    let losses: number[] = [];
    await withParts({ lr: 0.1, type: 'SGD' }, async (parts, dataset) => {
      const train = async (dataloader: PortValue): Promise<void> => {
        const { outputs } = await runner.runNode('TrainingLoop', { inputs: { ...parts, dataloader }, params });
        losses = (outputs['losses'] as { values: number[] }).values;
      };
      if (batchSize === undefined) return train(parts['dataloader']!);
      await using('DataLoader', 'dataloader', { inputs: { dataset }, params: { batch_size: batchSize } }, train);
    });
    return losses;
  };

  it('gives the same losses again for the same seeds', async () => {
    expect(await lossesOf({ epochs: 3 })).toEqual(await lossesOf({ epochs: 3 }));
  });

  it('gathers the gradients of small batches to those of a large one', async () => {
    // One step per epoch either way: the mean over five batches of eight is the mean over all forty rows.
    const [small, large] = [await lossesOf({ epochs: 4, accumulate_steps: 5 }), await lossesOf({ epochs: 4 }, 40)];
    expect(small).toEqual(large.map((loss) => expect.closeTo(loss, 5)));
    expect(await lossesOf({ epochs: 4 })).not.toEqual(large);
  });

  it('clips the gradients of all weights together', async () => {
    const free = await lossesOf({ epochs: 3 });
    const still = await lossesOf({ epochs: 3, grad_clip_norm: 1e-9 });
    expect(still).toEqual(Array(3).fill(expect.closeTo(still[0]!, 6)));
    expect(free[2]).toBeLessThan(still[2]! * 0.9);
    expect(await lossesOf({ epochs: 3, grad_clip_norm: 1e9 })).toEqual(free.map((loss) => expect.closeTo(loss, 6)));
  });

  it('brings back the weights of the best epoch', async () => {
    await withParts({ lr: 5, type: 'SGD' }, async (parts, dataset) => {
      const inputs = { ...parts, val_dataloader: parts['dataloader']! };
      const { outputs } = await runner.runNode('TrainingLoop', {
        inputs,
        params: { epochs: 6, early_stopping_patience: 6 },
      });
      const { best_epoch: best } = outputs['metrics'] as { best_epoch: number };
      const valLosses = (outputs['val_losses'] as { values: number[] }).values;
      expect(valLosses[best - 1]).toBe(Math.min(...valLosses));
      // One more validation, without a step: the loss of the weights that were brought back.
      const check = await runner.runNode('TrainingLoop', {
        inputs: { ...inputs, optimizer: parts['optimizer']! },
        params: { epochs: 1, max_steps: 1, grad_clip_norm: 1e-30 },
      });
      const [restored] = (check.outputs['val_losses'] as { values: number[] }).values;
      expect(restored).toBeCloseTo(valLosses[best - 1]!, 4);
      expect((await accuracyOf(parts['model']!, dataset))['total']).toBe(40);
    });
  });

  it('refuses a model with more than one input', async () => {
    const twoInputs = JSON.stringify({
      version: 2,
      nodes: [
        {
          id: 'i',
          type: 'Input',
          ports: [
            { id: 'a', name: 'a' },
            { id: 'b', name: 'b' },
          ],
        },
        { id: 's', type: 'Add' },
        { id: 'o', type: 'Output', ports: [{ id: 'y', name: 'y' }] },
      ],
      edges: [
        { source: 'i', sourceHandle: 'a', target: 's' },
        { source: 'i', sourceHandle: 'b', target: 's' },
        { source: 's', target: 'o', targetHandle: 'y' },
      ],
    });
    await withParts({ lr: 0.1 }, (parts) =>
      using('SequentialModel', 'model', { params: { layers: twoInputs } }, async (model) => {
        await expect(
          runner.runNode('EvaluateModel', {
            inputs: { model, dataset: (parts['dataloader'] as unknown as { dataset: PortValue }).dataset },
          }),
        ).rejects.toThrow(/one input and one output, this one has inputs a, b/);
      }),
    );
  });

  it('has a definition that lists what works', () => {
    const names = trainingLoopNode().definition.params.map(({ name }) => name);
    expect(names).not.toContain('tensorboard');
    expect(trainingLoopNode().check!({ tensorboard: true }, 'loop')).toEqual([
      expect.objectContaining({ code: 'option_not_available' }),
    ]);
    expect(trainingLoopNode().check!({}, 'loop')).toEqual([]);
  });
});
