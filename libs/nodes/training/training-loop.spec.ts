import { existsSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import type { NodeResult, PortValue } from '@cdui/node-sdk';
import { Schedule } from './schedules';
import { FakeRun, fakeLoader, removeFakeRuns, type FakeOptions } from './testing/fake-run';
import { trainingLoopNode } from './training-loop';

interface Case extends FakeOptions {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly rows?: number;
  readonly batch?: number;
  readonly validationRows?: number;
  readonly inputs?: Readonly<Record<string, PortValue>>;
  /** Milliseconds that every look at the clock takes. */
  readonly tick?: number;
}

async function train(
  setup: Case = {},
): Promise<{ run: FakeRun; result: NodeResult; metrics: Record<string, PortValue> }> {
  const { params = {}, rows = 10, batch = 4, validationRows, inputs = {}, tick = 0, ...fake } = setup;
  const run = new FakeRun(fake);
  const clock = (): number => (run.now += tick);
  const validation: Record<string, PortValue> = validationRows ? { val_dataloader: fakeLoader(validationRows, 4) } : {};
  const node = trainingLoopNode(clock);
  const result = await node.execute(
    run.context,
    run.inputs(fakeLoader(rows, batch), { ...validation, ...inputs }),
    params,
  );
  return { run, result, metrics: result.outputs['metrics'] as Record<string, PortValue> };
}

const values = (result: NodeResult, port: string): number[] =>
  (result.outputs[port] as unknown as { values: number[] }).values;

afterAll(removeFakeRuns);

describe('TrainingLoop', () => {
  it('goes through every batch of every epoch, and takes the plain mean of the batch losses', async () => {
    const { run, result, metrics } = await train({ params: { epochs: 2 }, loss: (step) => [3, 2, 1, 6, 5, 4][step]! });
    expect(run.recorded.steps.map(({ rows }) => rows.length)).toEqual([4, 4, 2, 4, 4, 2]);
    expect(values(result, 'losses')).toEqual([2, 5]);
    expect(values(result, 'val_losses')).toEqual([]);
    expect(metrics).toMatchObject({
      final_train_loss: 5,
      final_val_loss: null,
      best_epoch: 1,
      total_epochs_run: 2,
      last_epoch: 2,
      total_steps: 6,
      total_batches: 6,
      stopped_early: false,
      interrupted: false,
      lr_history: [0.1, 0.1],
    });
    expect(result.interrupted).toBeUndefined();
    expect(run.series('train_loss')).toEqual([
      [1, 2],
      [2, 5],
    ]);
    expect(run.series('lr')).toEqual([
      [1, 0.1],
      [2, 0.1],
    ]);
    expect(run.recorded.closed).toBe(1);
  });

  it('says first what it will do', async () => {
    const { run } = await train({ params: { epochs: 1, grad_clip_norm: 2, accumulate_steps: 3 }, validationRows: 4 });
    expect(run.recorded.frames[0]).toEqual({
      event: 'config',
      config: expect.objectContaining({
        params: 6,
        trainable: 6,
        optimizer: 'SGD',
        lr: 0.1,
        loss_fn: 'CrossEntropyLoss',
        epochs: 1,
        device: 'cpu',
        batch_size: 4,
        early_stopping: false,
        grad_clip_norm: 2,
        has_validation: true,
        has_lr_scheduler: false,
        effective_batch_size: 12,
      }),
    });
  });

  it('measures the validation set after every epoch', async () => {
    const { run, result } = await train({
      params: { epochs: 2 },
      validationRows: 6,
      validation: (round) => ({ loss: 2 - round, correct: 0.25 + round / 2 }),
    });
    expect(run.recorded.evaluated).toEqual([4, 2, 4, 2]);
    expect(values(result, 'val_losses')).toEqual([2, 1]);
    expect(run.series('val_accuracy')).toEqual([
      [1, 0.25],
      [2, 0.75],
    ]);
    expect(run.framesOf('epoch').at(-1)).toMatchObject({ epoch: 2, total_epochs: 2, val_loss: 1, val_losses: [2, 1] });
    expect(run.recorded.closed).toBe(2);
  });

  it('reads the learning rate before the schedule steps', async () => {
    const scheduler = { kind: 'scheduler', type: 'StepLR', params: { step_size: 1, gamma: 0.5 } } as const;
    const { run, metrics } = await train({ params: { epochs: 3 }, inputs: { lr_scheduler: scheduler } });
    expect(metrics['lr_history']).toEqual([0.1, 0.05, 0.025]);
    expect(run.recorded.steps.map(({ lr }) => lr)).toEqual([0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025]);
    expect(run.framesOf('epoch').map(({ lr }) => lr)).toEqual([0.1, 0.05, 0.025]);
  });

  it('steps the schedule with the optimizer when told so', async () => {
    const scheduler = { kind: 'scheduler', type: 'CosineAnnealingLR', params: { T_max: 4 } } as const;
    const { run } = await train({
      params: { epochs: 2, scheduler_step: 'optimizer_step', accumulate_steps: 2 },
      inputs: { lr_scheduler: scheduler },
    });
    const schedule = new Schedule(scheduler, 0.1);
    const [first, second, third] = [schedule.lr, schedule.step(), schedule.step()];
    expect(run.recorded.steps.map(({ lr }) => lr).slice(0, 4)).toEqual([first, first, second, third]);
  });

  it('goes on where another run ended: epochs are counted from the very first', async () => {
    const scheduler = { kind: 'scheduler', type: 'StepLR', params: { step_size: 2, gamma: 0.1 } } as const;
    const { run, metrics } = await train({
      params: { epochs: 5 },
      inputs: { start_epoch: 3, lr_scheduler: scheduler },
    });
    expect(run.series('train_loss').map(([epoch]) => epoch)).toEqual([4, 5]);
    expect(metrics).toMatchObject({ start_epoch: 3, last_epoch: 5, total_epochs_run: 2 });
    expect((metrics['lr_history'] as number[])[0]).toBeCloseTo(0.01, 12);
    expect((metrics['lr_history'] as number[])[1]).toBeCloseTo(0.001, 12);
  });

  it('has nothing left to do when all epochs are done', async () => {
    const { run, result, metrics } = await train({ params: { epochs: 2 }, inputs: { start_epoch: 2 } });
    expect(run.recorded.steps).toEqual([]);
    expect(values(result, 'losses')).toEqual([]);
    expect(metrics).toMatchObject({ total_epochs_run: 0, last_epoch: 2, final_train_loss: null });
  });

  it('stops early and brings back the best weights', async () => {
    const { run, metrics } = await train({
      params: { epochs: 9, early_stopping_patience: 2 },
      validationRows: 4,
      validation: (round) => ({ loss: [3, 2, 2.5, 2, 1][round]!, correct: 0 }),
    });
    expect(metrics).toMatchObject({ stopped_early: true, best_epoch: 2, total_epochs_run: 4 });
    expect(run.recorded.restored).toEqual(['snapshot 2']);
    expect(run.series('patience_counter')).toEqual([
      [1, 0],
      [2, 0],
      [3, 1],
      [4, 2],
    ]);
    expect(run.series('best_epoch')).toEqual([
      [1, 1],
      [2, 2],
      [3, 2],
      [4, 2],
    ]);
  });

  it('watches the training loss without a validation set, the accuracy when told so', async () => {
    const plain = await train({
      params: { epochs: 3, early_stopping_patience: 1 },
      rows: 4,
      loss: (step) => [1, 2, 0][step]!,
    });
    expect(plain.metrics).toMatchObject({ stopped_early: true, best_epoch: 1, total_epochs_run: 2 });
    const accuracy = await train({
      params: { epochs: 3, early_stopping_patience: 1, monitor: 'val_accuracy' },
      validationRows: 4,
      validation: (round) => ({ loss: 1 + round, correct: [0.1, 0.9, 0.5][round]! }),
    });
    expect(accuracy.metrics).toMatchObject({ stopped_early: true, best_epoch: 2, total_epochs_run: 3 });
  });

  it('brings back the best weights also when patience is not used up, and none without patience', async () => {
    const run = await train({
      params: { epochs: 2, early_stopping_patience: 5 },
      rows: 4,
      loss: (step) => [1, 2][step]!,
    });
    expect(run.metrics['stopped_early']).toBe(false);
    expect(run.run.recorded.restored).toEqual(['snapshot 1']);
    expect((await train({ params: { epochs: 2 } })).run.recorded.restored).toEqual([]);
  });

  it('gathers gradients over some batches, never over the end of an epoch', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 5 }), async (batches, accumulate) => {
        const { run, metrics } = await train({
          params: { epochs: 2, accumulate_steps: accumulate },
          rows: batches,
          batch: 1,
        });
        const applied = run.recorded.steps.map(({ apply }) => apply);
        expect(applied).toEqual(
          [0, 1].flatMap(() =>
            Array.from({ length: batches }, (_, i) => i === batches - 1 || (i + 1) % accumulate === 0),
          ),
        );
        expect(new Set(run.recorded.steps.map(({ scale }) => scale))).toEqual(new Set([1 / accumulate]));
        expect(metrics).toMatchObject({ total_steps: 2 * Math.ceil(batches / accumulate), total_batches: 2 * batches });
      }),
    );
  });

  it('ends after so many optimizer steps', async () => {
    const { run, metrics } = await train({ params: { epochs: 5, max_steps: 4 } });
    expect(run.recorded.steps).toHaveLength(4);
    expect(metrics).toMatchObject({ stopped_at_max_steps: true, total_steps: 4, last_epoch: 2, interrupted: false });
  });

  it('sends a batch frame at most every half second', async () => {
    // The clock is looked at once per batch and once more per frame: 100 ms each, 6 looks from one frame to the next.
    const { run } = await train({ params: { epochs: 1 }, rows: 50, batch: 1, tick: 100, loss: (step) => step });
    const frames = run.framesOf('batch');
    expect(frames.map(({ batch }) => batch)).toEqual(Array.from({ length: frames.length }, (_, i) => 5 * (i + 1)));
    expect(frames[0]).toEqual({ event: 'batch', epoch: 1, batch: 5, total_batches: 50, loss: 4, phase: 'train' });
    expect((await train({ rows: 50, batch: 1, tick: 0 })).run.framesOf('batch')).toEqual([]);
  });

  it('records single batches every so often, counted over all epochs', async () => {
    const { run } = await train({ params: { epochs: 2, batch_metrics: true, log_interval: 2 }, loss: (step) => step });
    expect(run.series('train_loss_batch')).toEqual([
      [2, 1],
      [4, 3],
      [6, 5],
    ]);
  });

  it('validates and writes checkpoints between, by optimizer steps', async () => {
    const { run } = await train({
      params: { epochs: 1, val_every_steps: 2, checkpoint_every_steps: 2, checkpoint_every: 1 },
      validationRows: 4,
    });
    expect(run.series('val_loss_step').map(([step]) => step)).toEqual([2]);
    expect(run.recorded.artifacts.map(({ path }) => path.slice(run.folder.length))).toEqual([
      '/periodic/run_1-loop-e0b2.safetensors',
      '/periodic/run_1-loop-e1.safetensors',
    ]);
    expect(run.recorded.artifacts[1]!.meta).toEqual({ reason: 'periodic', epoch: 1, batch: 0 });
  });

  it.each<[string, Case, RegExp]>([
    ['a loader without batches', { rows: 0 }, /no batches \(0 rows\)/],
    [
      'accuracy without validation',
      { params: { monitor: 'val_accuracy', early_stopping_patience: 1 } },
      /needs a val_dataloader/,
    ],
    ['half an epoch', { inputs: { start_epoch: 1.5 } }, /"start_epoch" needs a whole number/],
    [
      'a loss that is not one number',
      { inputs: { loss_fn: { kind: 'loss', spec: { type: 'MSE', reduction: 'none' } } } },
      /choose mean or sum/,
    ],
  ])('refuses %s', async (_, setup, message) => {
    await expect(train(setup)).rejects.toThrow(message);
  });

  it('warns once when the loss is no number any more, and goes on', async () => {
    const { run, result } = await train({ params: { epochs: 4 }, loss: (step) => (step < 3 ? 1 : NaN) });
    expect(values(result, 'losses')).toEqual([1, NaN, NaN, NaN]);
    expect(run.recorded.warnings).toEqual([
      expect.stringMatching(/^loop: the training loss of epoch 2 is NaN: choose a smaller learning rate \(now 0\.1\)/),
    ]);
  });

  it('refuses a data set without targets, naming the port', async () => {
    const bare = fakeLoader(4, 2);
    const loader = { ...bare, dataset: { ...bare.dataset, fields: bare.dataset.fields.slice(0, 1) } };
    for (const port of ['dataloader', 'val_dataloader']) {
      await expect(train({ inputs: { [port]: loader } })).rejects.toMatchObject({
        code: 'missing_input',
        message: expect.stringContaining(`of "${port}" has no targets, and CrossEntropyLoss needs some`),
      });
    }
  });

  it('says what it does instead of what is not there', async () => {
    const { run, metrics } = await train({ params: { epochs: 1, device: 'cuda', precision: 'bf16', strategy: 'ddp' } });
    expect(run.recorded.warnings.join('\n')).toMatch(/bf16.*fp32[^]*ddp[^]*device cuda is not available/);
    expect(metrics).toMatchObject({ precision: 'fp32', precision_requested: 'bf16' });
  });
});

describe('TrainingLoop that is stopped', () => {
  // 3 batches and 2 validation batches: 5 steps an epoch.
  const placeOf = (accepted: number) => {
    const inEpoch = accepted % 5;
    return {
      epoch: Math.floor(accepted / 5),
      batch: Math.min(inEpoch, 3),
      phase: inEpoch >= 3 ? 'validation' : 'train',
    };
  };

  it.each([false, true])(
    'writes a checkpoint that says where, wherever it is (the runtime refuses first: %s)',
    async (refuse) => {
      for (let accepted = 0; accepted < 15; accepted++) {
        const { run, result, metrics } = await train({
          params: { epochs: 3, early_stopping_patience: 5 },
          validationRows: 8,
          stopAt: (done) => done >= accepted,
          refuse,
        });
        const { epoch, batch, phase } = placeOf(accepted);
        const path = `${run.folder}/interrupted/run_1-loop-e${epoch}b${batch}.safetensors`;
        expect(result.interrupted).toEqual({ epoch, batch, phase, checkpoint_path: path });
        expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
          epoch,
          batch,
          reason: 'interrupted',
          initial_lrs: [0.1],
        });
        expect(run.recorded.artifacts).toEqual([
          { kind: 'checkpoint', path, meta: { reason: 'interrupted', epoch, batch } },
        ]);
        expect(metrics).toMatchObject({
          interrupted: true,
          interrupt_checkpoint: path,
          last_epoch: epoch,
          stopped_early: false,
        });
        expect(metrics['total_batches']).toBe(epoch * 3 + batch);
        expect(values(result, 'losses')).toHaveLength(epoch);
        expect(run.recorded.restored).toEqual([]);
        expect(run.recorded.closed).toBe(2);
      }
    },
  );

  it('drops the gradients of an open window', async () => {
    const { run } = await train({
      params: { epochs: 1, accumulate_steps: 3 },
      rows: 12,
      batch: 2,
      stopAt: (done) => done >= 4,
    });
    expect(run.recorded.discarded).toBe(1);
    expect(run.recorded.steps.filter(({ apply }) => apply)).toHaveLength(1);
  });

  it('keeps the schedule in the checkpoint', async () => {
    const scheduler = { kind: 'scheduler', type: 'StepLR', params: { step_size: 1, gamma: 0.5 } } as const;
    const { run } = await train({
      params: { epochs: 5 },
      inputs: { lr_scheduler: scheduler },
      stopAt: (done) => done >= 7,
    });
    expect(run.recorded.saved[0]!.meta).toMatchObject({
      losses: [1, 1],
      scheduler_class: 'StepLR',
      scheduler_state_dict: { last_epoch: 2, last_lr: 0.025, base_lr: 0.1 },
    });
  });

  it('writes no file in a run that records nothing', async () => {
    const { run, result, metrics } = await train({ stopAt: (done) => done >= 1, recordsArtifacts: false });
    expect(result.interrupted).toEqual({ epoch: 0, batch: 1, phase: 'train', checkpoint_path: null });
    expect(metrics).not.toHaveProperty('interrupt_checkpoint');
    expect(existsSync(`${run.folder}/interrupted`)).toBe(false);
  });
});
