import { join } from 'node:path';
import type { NodeResult, PortValue } from '@cdui/node-sdk';
import { programRoot } from '@cdui/host/entry';
import { readSafetensors } from '@cdui/tensor/files';
import type { HostTensor, ModuleRef, Scope, TensorRef } from '@cdui/tensor/runtime';
import { nested, numbersOf } from '../host-values';
import { NodeRunner, tensor, type NodeCase, type TensorResult } from '../testing/run-node';
import golden from './golden/cnn.json';

/** Relative to the largest of the numbers; float32 sums in another order, through 50 steps of Adam. */
const BOUND = 1e-4;

const LAYERS = JSON.stringify([
  { type: 'Conv2d', in_channels: 1, out_channels: 4, kernel_size: 3, padding: 1, bias: false },
  { type: 'BatchNorm2d', num_features: 4 },
  { type: 'ReLU' },
  { type: 'MaxPool2d', kernel_size: 2 },
  { type: 'Conv2d', in_channels: 4, out_channels: 8, kernel_size: 3, padding: 1 },
  { type: 'ReLU' },
  { type: 'MaxPool2d', kernel_size: 2 },
  { type: 'Flatten' },
  { type: 'Linear', in_features: 32, out_features: 5 },
]);
const PARAMS = {
  epochs: golden.epochs,
  max_steps: golden.steps,
  grad_clip_norm: golden.clip,
  batch_metrics: true,
  log_grad_norm: true,
};

const { tensors } = readSafetensors(join(programRoot(), 'libs/nodes/training/golden/cnn.safetensors'));
const group = (prefix: string): (readonly [name: string, host: HostTensor])[] =>
  Object.entries(tensors).flatMap(([name, host]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), host] as const] : [],
  );
const uploaded = (scope: Scope, prefix: string): Record<string, TensorRef> =>
  // The runtime takes buffers over, and both tests begin with these.
  Object.fromEntries(group(prefix).map(([name, host]) => [name, scope.upload(structuredClone(host))]));
const literal = (name: string): PortValue => {
  const host = tensors[name]!;
  return tensor(nested(numbersOf(host), host.shape), host.dtype);
};

let runner: NodeRunner;
beforeAll(async () => {
  runner = await NodeRunner.open();
});
afterAll(() => runner.close());

const using = (type: string, options: NodeCase, use: (result: NodeResult, scope: Scope) => Promise<void>) =>
  runner.runNode(type, { ...options, inspect: (scope, result) => use(result, scope) });

async function withLoader(part: '' | 'val_', use: (dataloader: PortValue) => Promise<void>): Promise<void> {
  const inputs = { features: literal(`${part}features`), targets: literal(`${part}labels`) };
  await using('TensorDataset', { inputs }, async ({ outputs }) => {
    const params = { batch_size: golden.batch, shuffle: false };
    const dataset = outputs['dataset']!;
    await using('DataLoader', { inputs: { dataset }, params }, (loader) => use(loader.outputs['dataloader']!));
  });
}

/** Trains from PyTorch's initial weights, as the nodes of a graph do. */
async function train(lr: number) {
  let report: Awaited<ReturnType<typeof runner.runNode>> | undefined;
  const after: Record<string, HostTensor> = {};
  const withModel = async (dataloader: PortValue, validation: PortValue): Promise<void> => {
    await using('SequentialModel', { params: { layers: LAYERS } }, async ({ outputs }, scope) => {
      const model = outputs['model'] as ModuleRef & PortValue;
      await scope.restore(model, scope.stateFrom(uploaded(scope, 'before/')), { strict: true });
      await using('Optimizer', { inputs: { model }, params: { type: 'Adam', lr } }, async (made) => {
        const optimizer = made.outputs['optimizer']!;
        const scheduler = { kind: 'scheduler', type: 'StepLR' } as const;
        report = await runner.runNode('TrainingLoop', {
          inputs: {
            model,
            dataloader,
            optimizer,
            val_dataloader: validation,
            loss_fn: { kind: 'loss', spec: { type: 'CrossEntropy' } },
            lr_scheduler: { ...scheduler, params: { step_size: golden.step_size, gamma: golden.gamma } },
          },
          params: PARAMS,
        });
        const state = scope.tensorsOf(scope.snapshot(model));
        for (const [name, ref] of Object.entries(state)) after[name] = await scope.read(ref);
      });
    });
  };
  await withLoader('', (dataloader) => withLoader('val_', (validation) => withModel(dataloader, validation)));
  const series = (name: string): number[] =>
    report!.metrics.filter((metric) => metric.name === name).map(({ value }) => value);
  return { series, after, valLosses: (report!.outputs['val_losses'] as TensorResult).values as number[] };
}

/** The largest deviation, relative to the largest expected number. */
function deviation(found: readonly number[], expected: readonly number[]): number {
  if (found.length !== expected.length) throw new Error(`${found.length} numbers instead of ${expected.length}`);
  const scale = Math.max(...expected.map(Math.abs));
  return Math.max(...expected.map((value, at) => Math.abs(value - found[at]!))) / scale;
}

describe('a convolutional network, trained by nodes', () => {
  it('takes the 50 steps that PyTorch takes', async () => {
    const { series, after, valLosses } = await train(golden.lr);
    expect(deviation(series('train_loss_batch'), golden.losses)).toBeLessThan(BOUND);
    expect(deviation(series('grad_norm'), golden.norms)).toBeLessThan(BOUND);
    expect(deviation(valLosses, golden.val_losses)).toBeLessThan(BOUND);
    expect(series('val_accuracy')).toEqual(golden.val_accuracies.map((share) => expect.closeTo(share, 6)));
    const expected = group('after/');
    expect(expected.map(([name]) => name).sort()).toEqual(Object.keys(after).sort());
    const errors = expected.map(([name, host]) => deviation([...numbersOf(after[name]!)], [...numbersOf(host)]));
    expect(Math.max(...errors)).toBeLessThan(BOUND);
  });

  it('would be told from one with another learning rate', async () => {
    const { series } = await train(golden.lr * 1.01);
    expect(deviation(series('train_loss_batch'), golden.losses)).toBeGreaterThan(10 * BOUND);
  });
});
