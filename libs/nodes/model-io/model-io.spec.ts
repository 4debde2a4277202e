import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodeResult, PortValue } from '@cdui/node-sdk';
import { readSafetensors, writeSafetensors } from '@cdui/tensor/files';
import { NodeRunner, tensor, type NodeCase, type TensorResult } from '../testing/run-node';

let runner: NodeRunner;
let root: string;
beforeAll(async () => {
  runner = await NodeRunner.open();
});
afterAll(() => runner.close());
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cdui-models-'));
  mkdirSync(join(root, 'models'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const LAYERS = JSON.stringify([{ type: 'Linear', in_features: 2, out_features: 3 }]);
const OTHER_LAYERS = JSON.stringify([{ type: 'Linear', in_features: 2, out_features: 4 }]);
const INPUT = tensor([
  [1, 2],
  [-1, 0.5],
]);

const run = (type: string, options: NodeCase = {}) =>
  runner.runNode(type, { folders: { data: root, models: join(root, 'models') }, ...options });

/** Runs a node and hands one of its outputs on while it is alive. */
async function using(
  type: string,
  port: string,
  options: NodeCase,
  use: (value: PortValue) => Promise<void>,
): Promise<void> {
  await run(type, { ...options, inspect: (_, result: NodeResult) => use(result.outputs[port]!) });
}
const withModel = (seed: number, use: (model: PortValue) => Promise<void>, layers = LAYERS): Promise<void> =>
  using('SequentialModel', 'model', { params: { layers }, seed }, use);

const answers = async (model: PortValue): Promise<number[][]> =>
  ((await run('Inference', { inputs: { model, input: INPUT } })).outputs['output'] as TensorResult)
    .values as number[][];

const save = (model: PortValue, path: string) => run('ModelSaver', { inputs: { model }, params: { path } });
const load = (model: PortValue, params: Readonly<Record<string, unknown>>) =>
  run('ModelLoader', { inputs: { model }, params });

describe('Inference', () => {
  it('computes what the weights say', async () => {
    await withModel(1, async (model) => {
      await save(model, 'm');
      const { weight, bias } = Object.fromEntries(
        Object.entries(readSafetensors(join(root, 'models/m.safetensors')).tensors).map(([name, value]) => [
          name.split('.').pop(),
          Array.from(value.data as Float32Array),
        ]),
      ) as Record<'weight' | 'bias', number[]>;
      const expected = [
        [1, 2],
        [-1, 0.5],
      ].map(([a, b]) =>
        [0, 1, 2].map((row) => expect.closeTo(weight[2 * row]! * a! + weight[2 * row + 1]! * b! + bias[row]!, 5)),
      );
      expect(await answers(model)).toEqual(expected);
    });
  });

  it('passes the model on, and names what does not fit', async () => {
    await withModel(1, async (model) => {
      await using('Inference', 'model', { inputs: { model, input: INPUT } }, async (same) => expect(same).toBe(model));
      await expect(run('Inference', { inputs: { model, input: tensor([[1, 2, 3]]) } })).rejects.toMatchObject({
        code: 'shape_mismatch',
      });
    });
  });
});

describe('ModelSaver', () => {
  it('writes plain names that other programs read, and says where', async () => {
    await withModel(1, async (model) => {
      const { outputs } = await save(model, 'sub/net.pt');
      const path = join(root, 'models/sub/net.safetensors');
      expect(outputs['path']).toBe(path);
      const { tensors } = readSafetensors(path);
      expect(Object.keys(tensors).sort()).toEqual(['0.bias', '0.weight']);
      expect(tensors['0.weight']).toMatchObject({ shape: [3, 2], dtype: 'float32' });
      expect(readdirSync(join(root, 'models/sub'))).toEqual(['net.safetensors']);
    });
  });

  it('writes nothing outside the data folder', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'cdui-outside-'));
    try {
      symlinkSync(outside, join(root, 'models/link'));
      await withModel(1, async (model) => {
        for (const path of ['link/net', '../../net', join(outside, 'net')]) {
          await expect(save(model, path)).rejects.toMatchObject({ code: 'path_outside_data' });
        }
      });
      expect(readdirSync(outside)).toEqual([]);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it.each([[{ format: 'pytorch' }], [{ save_mode: 'full_model' }]])('refuses %j', async (params) => {
    await withModel(1, async (model) => {
      await expect(run('ModelSaver', { inputs: { model }, params })).rejects.toMatchObject({
        code: 'option_not_available',
      });
    });
  });
});

describe('ModelLoader', () => {
  it('brings the saved weights back into another model', async () => {
    await withModel(1, async (saved) => {
      await save(saved, 'net');
      await withModel(2, async (fresh) => {
        expect(await answers(fresh)).not.toEqual(await answers(saved));
        await load(fresh, { path: 'net.safetensors' });
        expect(await answers(fresh)).toEqual(await answers(saved));
      });
    });
  });

  it('says which file does not fit, why, and what to do', async () => {
    const weights = (rows: number, extra = {}) =>
      writeSafetensors(join(root, 'models/other.safetensors'), {
        '0.weight': { shape: [rows, 2], dtype: 'float32', data: new Float32Array(rows * 2) },
        ...extra,
      });
    await withModel(1, async (model) => {
      weights(3);
      await expect(load(model, { path: 'other.safetensors' })).rejects.toMatchObject({
        code: 'state_mismatch',
        message: expect.stringMatching(/other\.safetensors cannot be loaded: .*missing: 0\.bias.*set strict to false/),
      });
      expect((await load(model, { path: 'other.safetensors', strict: false })).log).toEqual([
        'Not in the file, left as they are: 0.bias',
      ]);
      weights(4);
      await expect(load(model, { path: 'other.safetensors', strict: false })).rejects.toMatchObject({
        message: expect.stringMatching(/0\.weight is \[4, 2\], not \[3, 2\].*without strict only names may differ/),
      });
    });
  });

  it('takes the path of a saver before the param', async () => {
    await withModel(1, async (saved) => {
      const { outputs } = await save(saved, 'net');
      await withModel(2, async (model) => {
        await run('ModelLoader', {
          inputs: { model, path: outputs['path'] as string },
          params: { path: 'other.safetensors' },
        });
        expect(await answers(model)).toEqual(await answers(saved));
      });
    });
  });

  it('reads files that another program wrote', async () => {
    writeSafetensors(join(root, 'models/foreign.safetensors'), {
      '0.weight': { shape: [3, 2], dtype: 'float32', data: Float32Array.of(1, 0, 0, 1, 1, 1) },
      '0.bias': { shape: [3], dtype: 'float32', data: Float32Array.of(0, 0, 10) },
    });
    await withModel(1, async (model) => {
      await load(model, { path: 'foreign.safetensors' });
      expect(await answers(model)).toEqual([
        [1, 2, 13],
        [-1, 0.5, 9.5],
      ]);
    });
  });

  it('is strict about names and shapes unless told otherwise', async () => {
    writeSafetensors(join(root, 'models/part.safetensors'), {
      '0.bias': { shape: [3], dtype: 'float32', data: Float32Array.of(1, 2, 3) },
      more: { shape: [1], dtype: 'float32', data: Float32Array.of(1) },
    });
    await withModel(1, async (model) => {
      await expect(load(model, { path: 'part.safetensors' })).rejects.toThrow(/0\.weight/);
      const { log } = await load(model, { path: 'part.safetensors', strict: false });
      expect(log.join('\n')).toMatch(/left as they are: 0\.weight[^]*left out: more/);
    });
    await withModel(1, async (model) => {
      await save(model, 'net');
      await withModel(
        1,
        async (other) =>
          expect(load(other, { path: 'net.safetensors' })).rejects.toThrow(/0.weight is \[3, 2\], not \[4, 2\]/),
        OTHER_LAYERS,
      );
    });
  });

  it.each([
    ['net.pt', 'option_not_available'],
    ['none.safetensors', 'file_not_found'],
    ['../../etc/net.safetensors', 'path_outside_data'],
    ['', 'invalid_param'],
  ])('refuses %j with %s', async (path, code) => {
    await withModel(1, async (model) => expect(load(model, { path })).rejects.toMatchObject({ code }));
  });

  it('names a damaged file', async () => {
    writeFileSync(join(root, 'models/broken.safetensors'), 'no tensors here');
    await withModel(1, async (model) =>
      expect(load(model, { path: 'broken.safetensors' })).rejects.toThrow(/broken\.safetensors/),
    );
  });
});

/** A model with its optimizer after some steps on a small data set. */
async function withTrained(
  seed: number,
  epochs: number,
  use: (parts: Readonly<Record<string, PortValue>>) => Promise<void>,
): Promise<void> {
  const features = tensor([
    [1, 2],
    [2, 1],
    [-1, 0],
    [0, -2],
    [1, -1],
    [-2, 2],
  ]);
  await withModel(seed, (model) =>
    using('TensorDataset', 'dataset', { inputs: { features, labels: ['0', '1', '2', '0', '1', '2'] } }, (dataset) =>
      using(
        'DataLoader',
        'dataloader',
        { inputs: { dataset }, params: { batch_size: 2, shuffle: false } },
        (dataloader) =>
          using('Optimizer', 'optimizer', { inputs: { model }, params: { lr: 0.05 } }, async (optimizer) => {
            const parts = {
              model,
              optimizer,
              dataloader,
              loss_fn: { kind: 'loss', spec: { type: 'CrossEntropy' } },
            } as const;
            if (epochs === 0) return use(parts);
            await run('TrainingLoop', {
              inputs: parts,
              params: { epochs, deterministic: true },
              inspect: (_, result) => use({ ...parts, ...result.outputs }),
            });
          }),
      ),
    ),
  );
}

describe('CheckpointSaver', () => {
  it('keeps weights, state of the optimizer, epoch and losses in one file', async () => {
    await withTrained(1, 2, async ({ model, optimizer, losses }) => {
      const { outputs } = await run('CheckpointSaver', {
        inputs: { model: model!, optimizer: optimizer!, losses: losses! },
        params: { path: 'run/at2.ckpt', epoch: 2 },
      });
      const path = join(root, 'models/run/at2.safetensors');
      expect(outputs['path']).toBe(path);
      const { tensors, metadata } = readSafetensors(path);
      const names = Object.keys(tensors);
      expect(names).toEqual(expect.arrayContaining(['0.weight', '0.bias']));
      expect(names.some((name) => name.startsWith('optimizer/'))).toBe(true);
      expect(JSON.parse(metadata['checkpoint']!)).toEqual({
        epoch: 2,
        initial_lrs: [0.05],
        losses: [expect.any(Number), expect.any(Number)],
      });
    });
  });
});

describe('CheckpointLoader', () => {
  it('keeps a loss that was not a number what it was', async () => {
    await withTrained(1, 0, async ({ model, optimizer }) => {
      const inputs = { model: model!, optimizer: optimizer! };
      await run('CheckpointSaver', { inputs: { ...inputs, losses: tensor([0.5, NaN]) }, params: { path: 'at2' } });
      const { outputs } = await run('CheckpointLoader', { inputs, params: { path: 'at2.safetensors' } });
      expect(outputs['losses']).toMatchObject({ values: [0.5, NaN] });
    });
  });

  it('lets training go on as if it had not stopped: 2 and 2 epochs are 4, to the last bit', async () => {
    const lossesOf = (part: PortValue): Promise<number[]> =>
      run('Print', { inputs: { value: part } }).then(
        ({ outputs }) => (outputs['value'] as TensorResult).values as number[],
      );
    let whole: { losses: number[]; answers: number[][] } | undefined;
    await withTrained(1, 4, async ({ model, losses }) => {
      whole = { losses: await lossesOf(losses!), answers: await answers(model!) };
    });
    await withTrained(1, 2, async ({ model, optimizer, losses }) => {
      await run('CheckpointSaver', {
        inputs: { model: model!, optimizer: optimizer!, losses: losses! },
        params: { path: 'at2', epoch: 2 },
      });
    });
    // Another seed: what the file does not bring back would differ.
    await withTrained(9, 0, async (parts) => {
      const inputs = { model: parts['model']!, optimizer: parts['optimizer']! };
      const before: number[] = [];
      const after: number[] = [];
      await run('CheckpointLoader', {
        inputs,
        params: { path: 'at2.safetensors' },
        inspect: async (_, { outputs }) => {
          expect(outputs['epoch']).toBe(2);
          before.push(...(await lossesOf(outputs['losses']!)));
          const resumed = {
            ...parts,
            model: outputs['model']!,
            optimizer: outputs['optimizer']!,
            start_epoch: outputs['epoch']!,
          };
          const { outputs: trained } = await run('TrainingLoop', {
            inputs: resumed,
            params: { epochs: 4, deterministic: true },
          });
          expect(trained['metrics']).toMatchObject({ start_epoch: 2, last_epoch: 4, total_epochs_run: 2 });
          after.push(...((trained['losses'] as TensorResult).values as number[]));
        },
      });
      // Adam without its state, or with its count of steps alone, would take other steps.
      expect([...before, ...after]).toEqual(whole!.losses);
      expect(await answers(parts['model']!)).toEqual(whole!.answers);
    });
  });

  it('refuses weights without an optimizer', async () => {
    const bias = { shape: [3], dtype: 'float32', data: new Float32Array(3) } as const;
    writeSafetensors(join(root, 'models/bad.safetensors'), { '0.bias': bias });
    await withTrained(1, 0, async ({ model, optimizer }) => {
      await expect(
        run('CheckpointLoader', {
          inputs: { model: model!, optimizer: optimizer! },
          params: { path: 'bad.safetensors' },
        }),
      ).rejects.toThrow(/a checkpoint holds model and optimizer/);
    });
  });

  it.each([
    [undefined, /JSON part is missing/],
    ['{', /JSON part is not JSON/],
    ['null', /epoch is undefined/],
    ['{"epoch":-1}', /epoch is -1/],
    ['{"epoch":1,"losses":"many"}', /losses are not a list of numbers/],
  ])('refuses the JSON part %j', async (json, message) => {
    const path = join(root, 'models/at0.safetensors');
    await withTrained(1, 0, async ({ model, optimizer }) => {
      await run('CheckpointSaver', { inputs: { model: model!, optimizer: optimizer! }, params: { path: 'at0' } });
      const { tensors, metadata } = readSafetensors(path);
      const { checkpoint: _, ...others } = metadata;
      writeSafetensors(path, tensors, json === undefined ? others : { ...others, checkpoint: json });
      await expect(
        run('CheckpointLoader', {
          inputs: { model: model!, optimizer: optimizer! },
          params: { path: 'at0.safetensors' },
        }),
      ).rejects.toThrow(message);
    });
    expect(existsSync(path)).toBe(true);
  });
});
