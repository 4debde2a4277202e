import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LossSpec, ModuleRef, ModuleSpec, OptimizerRef, OptimizerSpec, Scope, TrainerSpec } from '../runtime';
import type { Bench } from './contract';
import { expectClose, host, numbersOf, randoms, readNumbers } from './tensors';

const OPTIMIZERS: readonly OptimizerSpec[] = [
  { type: 'SGD', lr: 0.1 },
  { type: 'SGD', lr: 0.05, momentum: 0.9, dampening: 0.1, weightDecay: 0.01 },
  { type: 'SGD', lr: 0.05, momentum: 0.9, nesterov: true },
  { type: 'Adam', lr: 0.05 },
  { type: 'Adam', lr: 0.05, amsgrad: true, weightDecay: 0.01 },
  { type: 'AdamW', lr: 0.05, betas: [0.8, 0.99] },
];

const NETWORK: ModuleSpec = {
  inputs: ['x'],
  outputs: [{ port: 'y', from: { node: 'two' } }],
  nodes: [
    { id: 'one', layer: 'Linear', params: { in_features: 3, out_features: 8 }, from: [{ input: 'x' }] },
    { id: 'act', layer: 'Tanh', params: {}, from: [{ node: 'one' }] },
    { id: 'two', layer: 'Linear', params: { in_features: 8, out_features: 2 }, from: [{ node: 'act' }] },
  ],
};
const CROSS_ENTROPY: LossSpec = { type: 'CrossEntropy' };

/** Points of two classes that a small network can tell apart. */
const POINTS = randoms([32, 3], 21);
const CLASSES = Array.from({ length: 32 }, (_, i) => {
  const [a, b, c] = numbersOf(POINTS).slice(3 * i);
  return a! + b! * c! > 0 ? 1 : 0;
});

function setUp(scope: Scope, spec: OptimizerSpec = { type: 'SGD', lr: 0.1 }, extra: Partial<TrainerSpec> = {}) {
  const module = extra.module ?? scope.module(NETWORK);
  const optimizer = extra.optimizer ?? scope.optimizer(module, spec);
  const trainer = scope.trainer({
    module,
    optimizer,
    loss: CROSS_ENTROPY,
    feed: { inputs: { x: 'x' }, target: 't' },
    precision: 'fp32',
    ...extra,
  });
  const from = {
    x: scope.upload(host('float32', [32, 3], numbersOf(POINTS))),
    t: scope.upload(host('int64', [32], CLASSES)),
  };
  const rows = (start: number, end: number) => ({
    rows: Int32Array.from({ length: end - start }, (_, i) => start + i),
    from,
  });
  return { module, optimizer, trainer, from, rows };
}

async function weightsOf(scope: Scope, source: ModuleRef | OptimizerRef): Promise<Record<string, number[]>> {
  const tensors = Object.entries(scope.tensorsOf(scope.snapshot(source)));
  const numbers = await Promise.all(tensors.map(([, tensor]) => readNumbers(scope, tensor)));
  return Object.fromEntries(tensors.map(([name], at) => [name, numbers[at]!]));
}

const flat = (weights: Record<string, number[]>) => Object.values(weights).flat();

export function trainingContract(bench: () => Bench): void {
  const open = (label: string, seed = 1) => bench().runtime.openScope({ label, seed });

  describe('training', () => {
    it.each(OPTIMIZERS)('%j lowers the loss, and its state has the entries it names', async (spec) => {
      const scope = open('loop');
      const { trainer, optimizer, rows } = setUp(scope, spec);
      for (let i = 0; i < 40; i++) await trainer.step(rows(0, 32));
      const { loss, index, lr, skipped } = await trainer.collect();
      expect(Array.from(index)).toEqual([...new Array(40).keys()]);
      expect(loss[39]).toBeLessThan(0.7 * loss[0]!);
      expect(new Set(lr)).toEqual(new Set([Math.fround(spec.lr)]));
      expect(Array.from(skipped).every((value) => value === 0)).toBe(true);
      const state = scope.snapshot(optimizer);
      for (const [name, tensor] of Object.entries(scope.tensorsOf(state))) {
        const read = await scope.read(tensor);
        expect([name, ...read.shape]).toEqual([name, ...tensor.shape]);
      }
      expect((await weightsOf(scope, optimizer))['step']).toEqual([40]);
      scope.close();
    });

    it('needs no round trip but the collect', async () => {
      const { wire } = bench();
      const scope = open('trips');
      const { trainer, rows } = setUp(scope);
      await trainer.step(rows(0, 8));
      await trainer.collect();
      wire.reset();
      for (let i = 0; i < 20; i++) await trainer.step(rows(8, 16));
      expect(wire.replies).toBe(0);
      expect((await trainer.collect()).loss).toHaveLength(20);
      expect(wire.replies).toBe(1);
      expect(Object.fromEntries(wire.commands)).toEqual({ step: 20, collect: 1 });
      scope.close();
    });

    it('one SGD step changes the weights by rate times gradient', async () => {
      const scope = bench().runtime.openScope({ label: 'sgd', seed: 1, recordGradients: true });
      const { trainer, module, from, rows } = setUp(scope, { type: 'SGD', lr: 0.5 });
      const before = await weightsOf(scope, module);
      const { y } = scope.forward(module, { x: from.x }, { mode: 'train' });
      const of = scope.op('loss', [y!, from.t], CROSS_ENTROPY);
      const { parameters } = await scope.backward(of, { tensors: [], modules: [module] });
      const ticket = await trainer.step(rows(0, 32));
      expectClose([await ticket.loss()], [await scope.readScalar(of)], 1e-5);
      const after = await weightsOf(scope, module);
      for (const [name, gradient] of Object.entries(parameters[0]!)) {
        const numbers = await readNumbers(scope, gradient!);
        expectClose(
          after[name]!,
          before[name]!.map((value, i) => value - 0.5 * numbers[i]!),
          1e-5,
        );
      }
      scope.close();
    });

    it('rows of resident tensors and host batches are the same step', async () => {
      const weights: number[][] = [];
      for (const fed of [true, false]) {
        const scope = open('feeding', 3);
        const { trainer, module, rows } = setUp(scope);
        const batch = {
          x: host('float32', [8, 3], numbersOf(POINTS).slice(24, 48)),
          t: host('int32', [8], CLASSES.slice(8, 16)),
        };
        for (let i = 0; i < 3; i++) await trainer.step(fed ? { host: batch } : rows(8, 16));
        expect(batch.x.data.byteLength).toBe(96);
        weights.push(flat(await weightsOf(scope, module)));
        scope.close();
      }
      expectClose(weights[0]!, weights[1]!, 1e-6);
    });

    it('affine scales bytes in the runtime', async () => {
      const losses: number[] = [];
      const bytes = Array.from({ length: 24 }, (_, i) => (i * 37) % 256);
      for (const raw of [true, false]) {
        const scope = open('affine', 3);
        const feed = {
          inputs: { x: 'x' },
          target: 't',
          ...(raw ? { affine: { x: { scale: 1 / 255, shift: -0.5 } } } : {}),
        };
        const { trainer } = setUp(scope, { type: 'SGD', lr: 0.1 }, { feed });
        const x = raw
          ? host('uint8', [8, 3], bytes)
          : host(
              'float32',
              [8, 3],
              bytes.map((byte) => byte / 255 - 0.5),
            );
        const ticket = await trainer.step({ host: { x, t: host('int64', [8], CLASSES.slice(0, 8)) } });
        losses.push(await ticket.loss());
        scope.close();
      }
      expectClose([losses[0]!], [losses[1]!], 1e-5);
    });

    it('accumulated small batches equal the big batch', async () => {
      const weights: number[][] = [];
      for (const pieces of [1, 4]) {
        const scope = open('accumulate', 3);
        const { trainer, module, rows } = setUp(scope, { type: 'Adam', lr: 0.01 }, { clipGradNorm: 0.05 });
        for (let round = 0; round < 3; round++) {
          for (let piece = 0; piece < pieces; piece++) {
            const size = 32 / pieces;
            const apply = piece === pieces - 1;
            await trainer.step(rows(piece * size, (piece + 1) * size), { apply, scale: 1 / pieces });
          }
        }
        weights.push(flat(await weightsOf(scope, module)));
        scope.close();
      }
      expectClose(weights[1]!, weights[0]!, 1e-4);
    });

    it('discard drops what was gathered', async () => {
      const weights: number[][] = [];
      for (const discard of [true, false]) {
        const scope = open('discard', 3);
        const { trainer, module, rows } = setUp(scope);
        if (discard) {
          await trainer.step(rows(16, 32), { apply: false });
          trainer.discard();
        }
        await trainer.step(rows(0, 16));
        weights.push(flat(await weightsOf(scope, module)));
        scope.close();
      }
      expect(weights[0]).toEqual(weights[1]);
    });

    it('columns observe norms, clipping, update ratio and accuracy; rates change between steps', async () => {
      const scope = open('observe');
      const { trainer, rows } = setUp(
        scope,
        { type: 'SGD', lr: 0.1 },
        {
          clipGradNorm: 0.01,
          observe: { gradNorm: true, updateRatio: true, accuracy: true },
        },
      );
      await trainer.step(rows(0, 32));
      trainer.setHyper({ lr: 0.25 });
      await trainer.step(rows(0, 32));
      await trainer.step(rows(0, 32), { apply: false });
      const columns = await trainer.collect();
      expect(Array.from(columns.lr).slice(0, 2)).toEqual([0.1, 0.25].map(Math.fround));
      expect(columns.gradNorm![0]).toBeGreaterThan(0.01);
      expectClose([columns.gradNormClipped![0]!], [0.01], 1e-4);
      expect(columns.updateRatio![0]).toBeGreaterThan(0);
      expect(columns.gradNorm![2]).toBeNaN();
      expect(Array.from(columns.count!)).toEqual([32, 32, 32]);
      for (const correct of columns.correct!) expect(correct >= 0 && correct <= 32).toBe(true);
      scope.close();
    });

    it('tickets give the loss of their step, before and after collect', async () => {
      const scope = open('tickets');
      const { trainer, rows } = setUp(scope);
      const tickets = [];
      for (let i = 0; i < 5; i++) tickets.push(await trainer.step(rows(0, 16)));
      const losses = await Promise.all(tickets.slice(0, 3).map((ticket) => ticket.loss()));
      const { loss } = await trainer.collect();
      expect(loss).toHaveLength(5);
      expect(losses).toEqual(Array.from(loss).slice(0, 3));
      expect(await tickets[4]!.loss()).toBe(loss[4]);
      scope.close();
    });

    it('a cancelled trainer takes no further step but can still be read and saved', async () => {
      const abort = new AbortController();
      const scope = bench().runtime.openScope({ label: 'cancel', seed: 1, signal: abort.signal });
      const { trainer, module, rows } = setUp(scope);
      for (let i = 0; i < 3; i++) await trainer.step(rows(0, 32));
      const waiting = Array.from({ length: 40 }, () => trainer.step(rows(0, 32)));
      abort.abort();
      const ends = await Promise.allSettled(waiting);
      expect(ends.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'cancelled' } });
      const accepted = ends.filter(({ status }) => status === 'fulfilled').length;
      expect((await trainer.collect()).loss).toHaveLength(3 + accepted);
      expect(flat(await weightsOf(scope, module)).every(Number.isFinite)).toBe(true);
      scope.close();
    });

    it('the same seed trains to the same bits', async () => {
      const runs: number[][] = [];
      for (let run = 0; run < 2; run++) {
        const scope = open('repeat', 12);
        const { trainer, module, rows } = setUp(scope, { type: 'Adam', lr: 0.01 });
        for (let i = 0; i < 10; i++) await trainer.step(rows((i * 3) % 16, 16 + i));
        runs.push(flat(await weightsOf(scope, module)));
        scope.close();
      }
      expect(runs[1]).toEqual(runs[0]);
    });

    it('an evaluator measures in evaluation mode and changes nothing', async () => {
      const scope = open('evaluate');
      const { module, from, rows } = setUp(scope);
      const evaluator = scope.evaluator({
        module,
        feed: { inputs: { x: 'x' }, target: 't' },
        precision: 'fp32',
        loss: CROSS_ENTROPY,
        accuracy: true,
      });
      const before = flat(await weightsOf(scope, module));
      for (const start of [0, 8, 16, 24]) await evaluator.step(rows(start, start + 8));
      const { losses, correct, count } = await evaluator.collect();
      const { y } = scope.forward(module, { x: from.x }, { mode: 'eval' });
      const guesses = await readNumbers(scope, scope.op('argmax', [y!], { dim: 1 }));
      const whole = await scope.readScalar(scope.op('loss', [y!, from.t], CROSS_ENTROPY));
      expect([losses.length, count]).toEqual([4, 32]);
      expect(correct).toBe(guesses.filter((guess, i) => guess === CLASSES[i]).length);
      expectClose([losses.reduce((a, b) => a + b) / 4], [whole], 1e-5);
      expect(flat(await weightsOf(scope, module))).toEqual(before);
      scope.close();
    });
  });

  describe('state', () => {
    it('a snapshot brings module and optimiser back: training again repeats the losses', async () => {
      const scope = open('snapshot');
      const { trainer, module, optimizer, rows } = setUp(scope, { type: 'Adam', lr: 0.05 });
      for (let i = 0; i < 3; i++) await trainer.step(rows(0, 32));
      const states = [scope.snapshot(module), scope.snapshot(optimizer)] as const;
      const run = async () => {
        for (let i = 0; i < 5; i++) await trainer.step(rows(0, 32));
        return Array.from((await trainer.collect()).loss).slice(-5);
      };
      const first = await run();
      expect(await scope.restore(module, states[0], { strict: true })).toEqual({ missing: [], unexpected: [] });
      await scope.restore(optimizer, states[1], { strict: true });
      expect(await run()).toEqual(first);
      scope.close();
    });

    it('restore reports what is missing and unexpected; strict and other shapes are errors that change nothing', async () => {
      const scope = open('restore');
      const module = scope.module(NETWORK);
      const before = await weightsOf(scope, module);
      const tensors = scope.tensorsOf(scope.snapshot(module));
      const { 'one.weight': weight, ...rest } = tensors;
      const partial = scope.stateFrom({ ...rest, extra: weight! });
      await expect(scope.restore(module, partial, { strict: true })).rejects.toThrow(/one\.weight/);
      expect(await scope.restore(module, partial)).toEqual({ missing: ['one.weight'], unexpected: ['extra'] });
      const shaped = scope.stateFrom({ ...tensors, 'two.bias': scope.upload(randoms([3])) });
      await expect(scope.restore(module, shaped)).rejects.toMatchObject({ code: 'shape_mismatch' });
      expect(await weightsOf(scope, module)).toEqual(before);
      scope.close();
    });

    it('goes through a safetensors file, metadata and buffers included', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'contract-'));
      const scope = open('files');
      try {
        const { trainer, module, optimizer, rows } = setUp(scope, { type: 'Adam', lr: 0.05 });
        for (let i = 0; i < 3; i++) await trainer.step(rows(0, 32));
        const path = join(folder, 'model.safetensors');
        const states = { model: scope.snapshot(module), optimizer: scope.snapshot(optimizer) };
        const saved = await scope.saveState(path, states, { epoch: '3', ключ: '値' });
        expect(saved.sha256).toMatch(/^[0-9a-f]{64}$/);
        expect(saved.bytes).toBeGreaterThan(0);

        const loaded = await scope.loadState(path);
        expect(loaded.metadata).toMatchObject({ epoch: '3', ключ: '値' });
        expect(Object.keys(loaded.states).toSorted()).toEqual(['model', 'optimizer']);
        const other = scope.module(NETWORK);
        await scope.restore(other, loaded.states['model']!, { strict: true });
        expect(await weightsOf(scope, other)).toEqual(await weightsOf(scope, module));
        const bound = scope.optimizer(other, { type: 'Adam', lr: 0.05 });
        await scope.restore(bound, loaded.states['optimizer']!, { strict: true });
        expect(await weightsOf(scope, bound)).toEqual(await weightsOf(scope, optimizer));
      } finally {
        scope.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });

    it('running statistics are buffers: training moves them, evaluation uses them', async () => {
      const scope = open('buffers');
      const module = scope.module({
        inputs: ['x'],
        outputs: [{ port: 'y', from: { node: 'bn' } }],
        nodes: [{ id: 'bn', layer: 'BatchNorm1d', params: { num_features: 2 }, from: [{ input: 'x' }] }],
      });
      const x = scope.upload(host('float32', [4, 2], [1, 10, 2, 20, 3, 30, 4, 40]));
      await scope.read(scope.forward(module, { x }, { mode: 'eval' }).y!);
      const before = await weightsOf(scope, module);
      expect([before['bn.running_mean'], before['bn.num_batches_tracked']]).toEqual([[0, 0], [0]]);
      await scope.read(scope.forward(module, { x }, { mode: 'train' }).y!);
      const after = await weightsOf(scope, module);
      expectClose(after['bn.running_mean']!, [0.25, 2.5], 1e-6);
      expectClose(after['bn.running_var']!, [0.9 + (0.1 * 5) / 3, 0.9 + (0.1 * 500) / 3], 1e-5);
      expect(after['bn.num_batches_tracked']).toEqual([1]);
      scope.close();
    });
  });

  describe('optimisers', () => {
    it('are reused for their module, rebound with their state to equal shapes, rebuilt for others', async () => {
      const scope = open('bind');
      const { trainer, module, optimizer, rows } = setUp(scope, { type: 'Adam', lr: 0.05 });
      for (let i = 0; i < 3; i++) await trainer.step(rows(0, 32));
      const trained = await weightsOf(scope, optimizer);
      expect(scope.bindOptimizer(optimizer, module)).toEqual({ optimizer, how: 'reused' });

      const twin = scope.module(NETWORK);
      const rebound = scope.bindOptimizer(optimizer, twin);
      expect(rebound.how).toBe('rebound');
      expect(await weightsOf(scope, rebound.optimizer)).toEqual(trained);

      const wider: ModuleSpec = {
        ...NETWORK,
        nodes: [{ id: 'two', layer: 'Linear', params: { in_features: 3, out_features: 2 }, from: [{ input: 'x' }] }],
      };
      const rebuilt = scope.bindOptimizer(optimizer, scope.module(wider));
      expect(rebuilt.how).toBe('rebuilt');
      const fresh = await weightsOf(scope, rebuilt.optimizer);
      expect(new Set(flat(fresh))).toEqual(new Set([0]));
      const again = setUp(scope, undefined, { module: twin, optimizer: rebound.optimizer });
      await again.trainer.step(again.rows(0, 32));
      expect((await weightsOf(scope, rebound.optimizer))['step']).toEqual([4]);
      scope.close();
    });
  });
}
